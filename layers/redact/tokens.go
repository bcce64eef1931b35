package redact

import "strings"

// A shape is a kind of secret that tells by its beginning what it is.
type shape struct {
	rule     string
	prefix   string  // case matters
	chars    set     // of what follows
	min, max int     // how many of them
	entropy  float64 // of the whole, at least
}

var (
	alnum  = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	wordly = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
	urlish = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")
	dotted = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.")
	base64 = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-+/")
	upper  = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
	upnum  = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	digits = setOf("0123456789")
	hexLow = setOf("0123456789abcdef")
	hexAny = setOf("0123456789abcdefABCDEF")
	bech32 = setOf("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")
)

// tokens are those that need no regular expression. The rules of gitleaks know more kinds; these are the frequent
// ones, and they are found whatever stands behind them.
func tokens() []shape {
	list := []shape{
		{"age-secret-key", "AGE-SECRET-KEY-1", bech32, 58, 58, 0},
		{"anthropic-api-key", "sk-ant-", urlish, 32, 200, 3.5},
		{"aws-access-key", "A3T", upper, 17, 17, 2.8},
		{"aws-bedrock-key", "ABSK", base64, 100, 300, 4},
		{"azure-storage-key", "AccountKey=", base64, 40, 100, 3.5},
		{"databricks-token", "dapi", hexLow, 32, 40, 3},
		{"digitalocean-token", "dop_v1_", hexLow, 64, 64, 3},
		{"digitalocean-token", "doo_v1_", hexLow, 64, 64, 3},
		{"digitalocean-token", "dor_v1_", hexLow, 64, 64, 3},
		{"docker-token", "dckr_pat_", urlish, 24, 60, 3},
		{"docker-token", "dckr_oat_", urlish, 24, 60, 3},
		{"gcp-api-key", "AIza", urlish, 35, 35, 3.5},
		{"gcp-oauth-secret", "GOCSPX-", urlish, 28, 28, 3},
		{"gcp-oauth-token", "ya29.", dotted, 40, 2048, 3.5},
		{"github-token", "github_pat_", wordly, 60, 100, 3},
		{"gitlab-token", "glpat-", dotted, 20, 120, 3},
		{"gitlab-token", "gldt-", urlish, 20, 64, 3},
		{"gitlab-token", "glrt-", urlish, 20, 64, 3},
		{"gitlab-token", "glptt-", hexLow, 40, 40, 3},
		{"groq-api-key", "gsk_", alnum, 40, 60, 3.5},
		{"huggingface-token", "hf_", alnum, 34, 40, 3},
		{"linear-api-key", "lin_api_", alnum, 40, 40, 3},
		{"netlify-token", "nfp_", alnum, 36, 40, 3},
		{"notion-token", "ntn_", alnum, 40, 50, 3},
		{"npm-token", "npm_", alnum, 36, 36, 3},
		{"openai-api-key", "sk-proj-", urlish, 40, 250, 3.5},
		{"openai-api-key", "sk-svcacct-", urlish, 40, 250, 3.5},
		{"openai-api-key", "sk-admin-", urlish, 40, 250, 3.5},
		{"openai-api-key", "sk-None-", urlish, 40, 250, 3.5},
		{"openai-api-key", "sk-", alnum, 40, 64, 3.7},
		{"openrouter-api-key", "sk-or-v1-", hexLow, 64, 64, 3},
		{"perplexity-api-key", "pplx-", alnum, 40, 60, 3.5},
		{"pypi-token", "pypi-AgE", urlish, 50, 1000, 3.5},
		{"replicate-token", "r8_", alnum, 37, 40, 3.5},
		{"sendgrid-api-key", "SG.", dotted, 60, 70, 4},
		{"shopify-token", "shpat_", hexAny, 32, 32, 3},
		{"shopify-token", "shpss_", hexAny, 32, 32, 3},
		{"shopify-token", "shpca_", hexAny, 32, 32, 3},
		{"shopify-token", "shppa_", hexAny, 32, 32, 3},
		{"slack-token", "xoxb-", urlish, 24, 255, 2.8},
		{"slack-token", "xoxp-", urlish, 24, 255, 2.8},
		{"slack-token", "xoxa-", urlish, 24, 255, 2.8},
		{"slack-token", "xoxr-", urlish, 24, 255, 2.8},
		{"slack-token", "xoxs-", urlish, 24, 255, 2.8},
		{"slack-token", "xoxe.xox", dotted, 40, 400, 3},
		{"slack-token", "xapp-", urlish, 40, 255, 3},
		{"stripe-key", "sk_live_", alnum, 16, 250, 3},
		{"stripe-key", "sk_test_", alnum, 16, 250, 3},
		{"stripe-key", "rk_live_", alnum, 16, 250, 3},
		{"stripe-key", "rk_test_", alnum, 16, 250, 3},
		{"stripe-key", "sk_prod_", alnum, 16, 250, 3},
		{"stripe-key", "rk_prod_", alnum, 16, 250, 3},
		{"stripe-key", "whsec_", base64, 32, 100, 3.5},
		{"supabase-key", "sbp_", hexLow, 40, 40, 3},
		{"supabase-key", "sb_secret_", urlish, 24, 80, 3},
		{"tailscale-key", "tskey-", urlish, 24, 80, 3},
		{"twilio-api-key", "SK", hexLow, 32, 32, 3},
		{"vault-token", "hvs.", urlish, 24, 300, 3.5},
		{"vault-token", "hvb.", urlish, 100, 400, 3.5},
		{"vault-token", "hvr.", urlish, 24, 300, 3.5},
		{"vercel-token", "vcp_", alnum, 40, 80, 3},
		{"xai-api-key", "xai-", alnum, 60, 100, 3.5},
	}
	for _, p := range []string{"AKIA", "ASIA", "ABIA", "ACCA"} {
		list = append(list, shape{"aws-access-key", p, upper, 16, 16, 2.8})
	}
	for _, p := range []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"} {
		list = append(list, shape{"github-token", p, alnum, 36, 255, 3})
	}
	return list
}

// match finds the token at text[at:].
func (t *shape) match(s *scan, at int, _ *word) {
	text := s.text
	if !strings.HasPrefix(string(text[at:min(len(text), at+len(t.prefix))]), t.prefix) {
		return
	}
	if at > 0 && (alnum.has(text[at-1]) || text[at-1] == '_') && !escaped(text, at) {
		return
	}
	from := at + len(t.prefix)
	n := t.chars.run(text[from:], t.max+1)
	if n < t.min {
		return
	}
	end := from + n
	if n > t.max { // a longer run of the same characters is something else
		return
	}
	for t.chars.has('.') && text[end-1] == '.' {
		end-- // of the sentence
	}
	secret := text[at:end]
	if end-from < t.min || entropy(secret) < t.entropy || placeholderish(secret[len(t.prefix):]) {
		return
	}
	s.found(at, end, t.rule)
}

// escaped reports whether the letter before at belongs to an escape, as in "\nAKIA...".
func escaped(text []byte, at int) bool {
	return at >= 2 && text[at-2] == '\\' && (text[at-1] == 'n' || text[at-1] == 't' || text[at-1] == 'r')
}

// jwt finds a JSON web token at text[at:]: two parts that begin as JSON does, and a signature.
func (s *scan) jwt(at int, _ *word) {
	text := s.text
	if text[at] != 'e' || text[at+1] != 'y' || text[at+2] != 'J' || at > 0 && urlish.has(text[at-1]) && !escaped(text, at) {
		return
	}
	end, parts := at, 0
	for parts < 3 {
		n := urlish.run(text[end:], 16<<10)
		if n < 8 || parts == 1 && (n < 12 || text[end] != 'e' || text[end+1] != 'y') {
			break
		}
		end += n
		if parts++; parts < 3 {
			if end == len(text) || text[end] != '.' {
				break
			}
			end++
		}
	}
	if parts == 3 && !placeholderish(text[at:end]) {
		s.found(at, end, "jwt")
	}
}
