package redact

import (
	"strings"
)

// A tokenShape is a kind of token that is recognised by its prefix.
type tokenShape struct {
	rule     string
	prefix   string  // case matters; in the table several, between bars
	chars    byteSet // of the rest
	min, max int     // the number of characters after the prefix
	entropy  float64 // minimum, of the whole token
	mixed    bool    // it must mix letters and digits, because identifiers have the same prefix
}

// tokens returns the shapes of frequent tokens, which need no regular expression. They are found whatever follows
// them. The rules of gitleaks cover more kinds.
func tokens() (out []tokenShape) {
	for _, t := range []tokenShape{
		{"age-secret-key", "AGE-SECRET-KEY-1", bech32, 58, 58, 0, false},
		{"anthropic-api-key", "sk-ant-", urlChars, 32, 200, 3.5, false},
		{"aws-access-key", "A3T", Upper, 17, 17, 2.8, false},
		{"aws-bedrock-key", "ABSK", Base64, 100, 300, 4, false},
		{"azure-storage-key", "AccountKey=", Base64, 40, 100, 3.5, false},
		{"contentful-token", "CFPAT-", urlChars, 43, 43, 3, false},
		{"databricks-token", "dapi", hexLow, 32, 40, 3, false},
		{"buildkite-token", "bkua_", hexLow, 40, 40, 3, false},
		{"circleci-token", "CCIPAT_|CCIPRJ_", wordChars, 40, 100, 3, false},
		{"cloudflare-token", "cfut_|cfat_|cfk_", urlChars, 40, 80, 3, false},
		{"digitalocean-token", "dop_v1_|doo_v1_|dor_v1_", hexLow, 64, 64, 3, false},
		{"docker-token", "dckr_pat_|dckr_oat_", urlChars, 24, 60, 3, false},
		{"doppler-token", "dp.pt.|dp.ct.|dp.sa.|dp.scim.|dp.audit.", Alnum, 40, 44, 3, false},
		{"doppler-token", "dp.st.", dottedChars, 40, 84, 3, true}, // with the name of an environment
		{"gcp-api-key", "AIza", urlChars, 35, 35, 3.5, false},
		{"gcp-oauth-secret", "GOCSPX-", urlChars, 28, 28, 3, false},
		{"gcp-oauth-token", "ya29.", dottedChars, 40, 2048, 3.5, false},
		{"github-token", "github_pat_", wordChars, 60, 100, 3, false},
		{"gitlab-token", "glpat-", dottedChars, 20, 120, 3, false},
		{"gitlab-token", "gldt-|glrt-", urlChars, 20, 64, 3, false},
		{"gitlab-token", "glptt-", hexLow, 40, 40, 3, false},
		{"groq-api-key", "gsk_", Alnum, 40, 60, 3.5, false},
		{"huggingface-token", "hf_", Alnum, 34, 40, 3, false},
		{"linear-api-key", "lin_api_", Alnum, 40, 40, 3, false},
		{"linear-oauth-token", "lin_oauth_", Alnum, 40, 80, 3, false},
		{"neon-api-key", "napi_", lowerDigits, 60, 80, 3, false},
		{"netlify-token", "nfp_", Alnum, 36, 40, 3, false},
		{"notion-token", "ntn_", Alnum, 40, 50, 3, false},
		{"npm-token", "npm_", Alnum, 36, 36, 3, false},
		{"openai-api-key", "sk-proj-|sk-svcacct-|sk-admin-|sk-None-", urlChars, 40, 250, 3.5, false},
		{"openai-api-key", "sk-", Alnum, 40, 64, 3.7, false},
		{"openrouter-api-key", "sk-or-v1-", hexLow, 64, 64, 3, false},
		{"perplexity-api-key", "pplx-", Alnum, 40, 60, 3.5, false},
		{"posthog-api-key", "phx_", Alnum, 40, 60, 3.5, false},
		{"pypi-token", "pypi-AgE", urlChars, 50, 1000, 3.5, false},
		{"replicate-token", "r8_", Alnum, 37, 40, 3.5, false},
		{"sendgrid-api-key", "SG.", dottedChars, 60, 70, 4, false},
		{"shopify-token", "shpat_|shpss_|shpca_|shppa_", hexAny, 32, 32, 3, false},
		{"slack-token", "xoxb-|xoxp-|xoxa-|xoxr-|xoxs-", urlChars, 24, 255, 2.8, false},
		{"slack-token", "xoxe.xox", dottedChars, 40, 400, 3, false},
		{"slack-token", "xapp-", urlChars, 40, 255, 3, false},
		{"sonarqube-token", "sqa_|sqp_|squ_", hexLow, 40, 40, 3, false},
		{"stripe-key", "sk_live_|sk_test_|rk_live_|rk_test_|sk_prod_|rk_prod_", Alnum, 16, 250, 3, false},
		{"stripe-key", "whsec_", Base64, 32, 100, 3.5, false},
		{"supabase-key", "sbp_", hexLow, 40, 40, 3, false},
		{"supabase-key", "sb_secret_", urlChars, 24, 80, 3, false},
		{"tailscale-key", "tskey-", urlChars, 24, 80, 3, false},
		{"twilio-api-key", "SK", hexLow, 32, 32, 3, false},
		{"vault-token", "hvs.|hvr.", urlChars, 24, 300, 3.5, false},
		{"vault-token", "hvb.", urlChars, 100, 400, 3.5, false},
		{"vercel-token", "vcp_", Alnum, 40, 80, 3, false},
		{"xai-api-key", "xai-", Alnum, 60, 100, 3.5, false},
		{"1password-token", "ops_eyJ", Base64, 100, 2000, 4, false},
		{"atlassian-token", "ATATT3|ATCTT3", urlChars, 100, 250, 3.5, false},
		{"atlassian-token", "ATBB", Alnum, 28, 40, 3.5, true},
		{"braintree-token", "access_token$production$", paypal, 40, 64, 3, false},
		{"deepseek-api-key", "sk-", hexLow, 32, 32, 3, false},
		{"dropbox-token", "sl.", urlChars, 120, 1200, 4, true},
		{"elevenlabs-api-key", "sk_", hexLow, 48, 48, 3, false},
		{"figma-token", "figd_", urlChars, 38, 60, 3.5, true},
		{"firecrawl-api-key", "fc-", hexLow, 32, 32, 3, true},
		{"gcp-refresh-token", "1//0", urlChars, 60, 200, 4, true},
		{"langsmith-api-key", "lsv2_", wordChars, 40, 64, 3, true},
		{"mapbox-token", "sk.eyJ", dottedChars, 60, 250, 4, false},
		{"new-relic-key", "NRAK-", upperDigits, 27, 27, 3, false},
		{"notion-token", "secret_", Alnum, 43, 43, 4, true},
		{"nuget-api-key", "oy2", lowerDigits, 43, 43, 3.5, true},
		{"okta-token", "SSWS 00", urlChars, 38, 42, 3.5, false},
		{"openai-session", "sess-", Alnum, 40, 40, 3.7, true},
		{"pinecone-api-key", "pcsk_", wordChars, 50, 100, 3.5, true},
		{"resend-api-key", "re_", wordChars, 32, 36, 4, true},
		{"sentry-token", "sntrys_", Base64, 80, 500, 4, false},
		{"slack-token", "xoxc-", urlChars, 40, 255, 2.8, false},
		{"slack-token", "xoxd-", Percent, 40, 400, 3, false},
		{"slack-token", "xoxe-1-", urlChars, 40, 400, 3, false},
		{"square-token", "sq0csp-", urlChars, 43, 43, 3.5, true},
		{"tavily-api-key", "tvly-", urlChars, 24, 64, 3.5, true},
		{"twitch-token", "oauth:", lowerDigits, 30, 30, 3.5, true},
		{"aws-access-key", "AKIA|ASIA|ABIA|ACCA", Upper, 16, 16, 2.8, false},
		{"github-token", "ghp_|gho_|ghu_|ghs_|ghr_", Alnum, 36, 255, 3, false},
	} {
		for prefix := range strings.SplitSeq(t.prefix, "|") {
			t.prefix = prefix
			out = append(out, t)
		}
	}
	return out
}

// match finds the token at text[at:].
func (t *tokenShape) match(s *Scan, at int, _ *word) {
	text := s.Text
	if !strings.HasPrefix(string(text[at:min(len(text), at+len(t.prefix))]), t.prefix) {
		return
	}
	if at > 0 && (Alnum.Has(text[at-1]) || text[at-1] == '_') && !escaped(text, at) {
		return
	}
	from := at + len(t.prefix)
	n := t.chars.Run(text[from:], t.max+1)
	if n < t.min {
		return
	}
	end := from + n
	if n > t.max { // too long for this token
		return
	}
	for t.chars.Has('.') && text[end-1] == '.' {
		end-- // of the sentence
	}
	secret := text[at:end]
	if end-from < t.min || Entropy(secret) < t.entropy || isPlaceholder(secret[len(t.prefix):]) ||
		t.mixed && !Random(secret[len(t.prefix):]) {
		return
	}
	s.found(at, end, t.rule)
}

// escaped reports whether the letter before at belongs to an escape, as in "\
// AKIA...".
func escaped(text []byte, at int) bool {
	return at >= 2 && text[at-2] == '\\' && (text[at-1] == 'n' || text[at-1] == 't' || text[at-1] == 'r')
}
