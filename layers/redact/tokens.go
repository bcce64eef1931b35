package redact

import "strings"

// A shape is a kind of secret that tells by its beginning what it is.
type shape struct {
	rule     string
	prefix   string  // case matters
	chars    set     // of what follows
	min, max int     // how many of them
	entropy  float64 // of the whole, at least
	mixed    bool    // letters and digits are mixed in it, since words of code begin like it too
}

var (
	alnum   = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	wordly  = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
	urlish  = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")
	dotted  = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.")
	base64  = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-+/")
	upper   = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
	upnum   = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	digits  = setOf("0123456789")
	hexLow  = setOf("0123456789abcdef")
	hexAny  = setOf("0123456789abcdefABCDEF")
	lownum  = setOf("abcdefghijklmnopqrstuvwxyz0123456789")
	paypal  = setOf("abcdefghijklmnopqrstuvwxyz0123456789$")
	percent = setOf("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-%")
	bech32  = setOf("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")
)

// tokens are those that need no regular expression. The rules of gitleaks know more kinds; these are the frequent
// ones, and they are found whatever stands behind them.
func tokens() []shape {
	list := []shape{
		{"age-secret-key", "AGE-SECRET-KEY-1", bech32, 58, 58, 0, false},
		{"anthropic-api-key", "sk-ant-", urlish, 32, 200, 3.5, false},
		{"aws-access-key", "A3T", upper, 17, 17, 2.8, false},
		{"aws-bedrock-key", "ABSK", base64, 100, 300, 4, false},
		{"azure-storage-key", "AccountKey=", base64, 40, 100, 3.5, false},
		{"databricks-token", "dapi", hexLow, 32, 40, 3, false},
		{"digitalocean-token", "dop_v1_", hexLow, 64, 64, 3, false},
		{"digitalocean-token", "doo_v1_", hexLow, 64, 64, 3, false},
		{"digitalocean-token", "dor_v1_", hexLow, 64, 64, 3, false},
		{"docker-token", "dckr_pat_", urlish, 24, 60, 3, false},
		{"docker-token", "dckr_oat_", urlish, 24, 60, 3, false},
		{"gcp-api-key", "AIza", urlish, 35, 35, 3.5, false},
		{"gcp-oauth-secret", "GOCSPX-", urlish, 28, 28, 3, false},
		{"gcp-oauth-token", "ya29.", dotted, 40, 2048, 3.5, false},
		{"github-token", "github_pat_", wordly, 60, 100, 3, false},
		{"gitlab-token", "glpat-", dotted, 20, 120, 3, false},
		{"gitlab-token", "gldt-", urlish, 20, 64, 3, false},
		{"gitlab-token", "glrt-", urlish, 20, 64, 3, false},
		{"gitlab-token", "glptt-", hexLow, 40, 40, 3, false},
		{"groq-api-key", "gsk_", alnum, 40, 60, 3.5, false},
		{"huggingface-token", "hf_", alnum, 34, 40, 3, false},
		{"linear-api-key", "lin_api_", alnum, 40, 40, 3, false},
		{"netlify-token", "nfp_", alnum, 36, 40, 3, false},
		{"notion-token", "ntn_", alnum, 40, 50, 3, false},
		{"npm-token", "npm_", alnum, 36, 36, 3, false},
		{"openai-api-key", "sk-proj-", urlish, 40, 250, 3.5, false},
		{"openai-api-key", "sk-svcacct-", urlish, 40, 250, 3.5, false},
		{"openai-api-key", "sk-admin-", urlish, 40, 250, 3.5, false},
		{"openai-api-key", "sk-None-", urlish, 40, 250, 3.5, false},
		{"openai-api-key", "sk-", alnum, 40, 64, 3.7, false},
		{"openrouter-api-key", "sk-or-v1-", hexLow, 64, 64, 3, false},
		{"perplexity-api-key", "pplx-", alnum, 40, 60, 3.5, false},
		{"pypi-token", "pypi-AgE", urlish, 50, 1000, 3.5, false},
		{"replicate-token", "r8_", alnum, 37, 40, 3.5, false},
		{"sendgrid-api-key", "SG.", dotted, 60, 70, 4, false},
		{"shopify-token", "shpat_", hexAny, 32, 32, 3, false},
		{"shopify-token", "shpss_", hexAny, 32, 32, 3, false},
		{"shopify-token", "shpca_", hexAny, 32, 32, 3, false},
		{"shopify-token", "shppa_", hexAny, 32, 32, 3, false},
		{"slack-token", "xoxb-", urlish, 24, 255, 2.8, false},
		{"slack-token", "xoxp-", urlish, 24, 255, 2.8, false},
		{"slack-token", "xoxa-", urlish, 24, 255, 2.8, false},
		{"slack-token", "xoxr-", urlish, 24, 255, 2.8, false},
		{"slack-token", "xoxs-", urlish, 24, 255, 2.8, false},
		{"slack-token", "xoxe.xox", dotted, 40, 400, 3, false},
		{"slack-token", "xapp-", urlish, 40, 255, 3, false},
		{"stripe-key", "sk_live_", alnum, 16, 250, 3, false},
		{"stripe-key", "sk_test_", alnum, 16, 250, 3, false},
		{"stripe-key", "rk_live_", alnum, 16, 250, 3, false},
		{"stripe-key", "rk_test_", alnum, 16, 250, 3, false},
		{"stripe-key", "sk_prod_", alnum, 16, 250, 3, false},
		{"stripe-key", "rk_prod_", alnum, 16, 250, 3, false},
		{"stripe-key", "whsec_", base64, 32, 100, 3.5, false},
		{"supabase-key", "sbp_", hexLow, 40, 40, 3, false},
		{"supabase-key", "sb_secret_", urlish, 24, 80, 3, false},
		{"tailscale-key", "tskey-", urlish, 24, 80, 3, false},
		{"twilio-api-key", "SK", hexLow, 32, 32, 3, false},
		{"vault-token", "hvs.", urlish, 24, 300, 3.5, false},
		{"vault-token", "hvb.", urlish, 100, 400, 3.5, false},
		{"vault-token", "hvr.", urlish, 24, 300, 3.5, false},
		{"vercel-token", "vcp_", alnum, 40, 80, 3, false},
		{"xai-api-key", "xai-", alnum, 60, 100, 3.5, false},
		{"1password-token", "ops_eyJ", base64, 100, 2000, 4, false},
		{"atlassian-token", "ATATT3", urlish, 100, 250, 3.5, false},
		{"atlassian-token", "ATCTT3", urlish, 100, 250, 3.5, false},
		{"atlassian-token", "ATBB", alnum, 28, 40, 3.5, true},
		{"braintree-token", "access_token$production$", paypal, 40, 64, 3, false},
		{"deepseek-api-key", "sk-", hexLow, 32, 32, 3, false},
		{"dropbox-token", "sl.", urlish, 120, 1200, 4, true},
		{"elevenlabs-api-key", "sk_", hexLow, 48, 48, 3, false},
		{"figma-token", "figd_", urlish, 38, 60, 3.5, true},
		{"firecrawl-api-key", "fc-", hexLow, 32, 32, 3, true},
		{"gcp-refresh-token", "1//0", urlish, 60, 200, 4, true},
		{"langsmith-api-key", "lsv2_", wordly, 40, 64, 3, true},
		{"mapbox-token", "sk.eyJ", dotted, 60, 250, 4, false},
		{"new-relic-key", "NRAK-", upnum, 27, 27, 3, false},
		{"notion-token", "secret_", alnum, 43, 43, 4, true},
		{"nuget-api-key", "oy2", lownum, 43, 43, 3.5, true},
		{"okta-token", "SSWS 00", urlish, 38, 42, 3.5, false},
		{"openai-session", "sess-", alnum, 40, 40, 3.7, true},
		{"pinecone-api-key", "pcsk_", wordly, 50, 100, 3.5, true},
		{"resend-api-key", "re_", wordly, 32, 36, 4, true},
		{"sentry-token", "sntrys_", base64, 80, 500, 4, false},
		{"slack-token", "xoxc-", urlish, 40, 255, 2.8, false},
		{"slack-token", "xoxd-", percent, 40, 400, 3, false},
		{"slack-token", "xoxe-1-", urlish, 40, 400, 3, false},
		{"square-token", "sq0csp-", urlish, 43, 43, 3.5, true},
		{"tavily-api-key", "tvly-", urlish, 24, 64, 3.5, true},
		{"twitch-token", "oauth:", lownum, 30, 30, 3.5, true},
	}
	for _, p := range []string{"AKIA", "ASIA", "ABIA", "ACCA"} {
		list = append(list, shape{"aws-access-key", p, upper, 16, 16, 2.8, false})
	}
	for _, p := range []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"} {
		list = append(list, shape{"github-token", p, alnum, 36, 255, 3, false})
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
	if end-from < t.min || entropy(secret) < t.entropy || placeholderish(secret[len(t.prefix):]) || t.mixed && !random(secret[len(t.prefix):]) {
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
