package permanent

import (
	"regexp"
	"sync"
)

// A cue is how a language says that something holds for ever. The group named cue holds the words that say it.
type cue struct {
	match  *regexp.Regexp
	unless *regexp.Regexp // what makes it a report, a thought or a matter of this moment
	back   *regexp.Regexp // the sentence only points at the one before it
}

// languages returns the cues of each language. They were made narrow on purpose: who means it can say it more plainly,
// and what is found wrongly costs a question each time.
var languages = sync.OnceValue(func() [][]cue {
	re := regexp.MustCompile
	// what may stand before an order
	const lead = `(?i)^(?:(?:ok(?:ay)?|alright|right|good|great|yes|no|hey|hi|claude|please|pls|also|and|but|so|then|note|important|oh|btw|again|one more thing|another thing|finally|lastly)[\s,.:!—-]+)*`
	const ought = `(?:(?:you|we)\s+(?:should|must|need to|have to|shall)\s+|(?:please\s+)?make sure (?:that )?(?:to|you|we)?\s*|be sure to\s+|i(?:'d| would)? (?:want|need|like|prefer) (?:you|claude|us) to\s+)?`
	reports := re(
		`(?i)\b(?:always|never)\s+(?:mind|been|had|has|was|were|is|are|am|got|gets|did|does|seen|heard|worked|works|happens?|happened|fails?|failed|seems?|returns?|returned|the case|a good|a bad|an option|possible|useful|nice|good|fun|really|quite|actually|gonna|again)\b|\b(?:almost|nearly|not|n't)\s+(?:always|never)\b`)
	verbs := `(?:use|run|write|commit|prefer|keep|put|name|test|deploy|add|call|import|push|merge|rebase|squash|log|mock|format|lint|document|ask|check|read|answer|reply|speak|respond|sign|start|pin|target|build|validate|assume|store|return|throw|ship|edit|touch|change|delete|remove|include|set|wrap|go|do|want|follow|work|install|generate|print|mention|create)`
	const place = `(?:in|for) this (?:project|repo|codebase|repository|workspace)`
	english := []cue{
		{match: re(`(?i)\b(?P<cue>make sure (?:that )?claude)\b`)},
		{match: re(`(?i)(?:^|[,;:—-]\s*|\b(?:and|but|so|that|also)\s+)(?P<cue>claude (?:should|must|shall|has to|needs to|may only))\s`),
			unless: re(`(?i)\bclaude should (?:have|be able)\b`)},
		{match: re(lead +
			`(?P<cue>remember)\s*(?:[:,—-]|\b(?:this|that|these|to|always|never|for (?:the future|later|next time|ever)|it|we|our|the|i|my|not)\b)`),
			unless: re(`(?i)\bremember\s+(?:when|how|what|why|if|whether|(?:that )?time|the time)\b`),
			back: re(lead +
				`(?i:remember)\s+(?:this|that|these|it)(?:\s+(?:please|for (?:the future|later|next time|ever|good)|from now on|going forward))?\s*[.!]*$`)},
		{match: re(
			`(?i)[,;:—-]\s*(?:please\s+)?(?P<cue>remember)\s+(?:this|that|it)(?:\s+(?:please|for (?:the future|later|next time|ever|good)))?\s*[.!]*$`),
			unless: re(`(?i)^(?:do|did|can|could|would|will|i|you)\b[^,]*,?\s*remember\b`)},
		{match: re(lead + ought +
			`(?P<cue>keep in mind)\b[\s,:]*(?:that|this|for)?\b.*\b(?:always|never|every|future|all|any)\b`)},
		{match: re(lead + `(?:do\s*n[o']?t|never|do not) (?P<cue>(?:ever )?forget)\s+(?:that|this:|about the rule)\b`)},
		{match: re(
			`(?i)(?:^|[,;:—(-]\s*|\b(?:and|but|so|also|please)\s+)(?P<cue>from now on|from here on(?: out)?|from this point (?:on|onwards?|forward)|henceforth|(?:in|for) (?:the )?future (?:sessions|conversations|chats|work|tasks|prs|commits)|for future reference|in every (?:future )?session|every time you|whenever you)\b`),
			unless: re(`(?i)\b(?:will|would|does|is|was)\b[^,]*\b(?:every time you)\b|\bwhat (?:should|do|will|can)\b`)},
		{match: re(lead + ought + verbs +
			`\b[^,;?]*\b(?P<cue>from now on|from here on(?: out)?|going forward|in (?:the )?future)\s*[.!]*$`),
			unless: re(`(?i)\b(?:as|like|than) (?:in|what|it)\b|\bneed(?:ed)? in (?:the )?future\b`)},
		{match: re(
			`(?i)(?:^|[,;:—(-]\s*|\b(?:and|but|so|also)\s+)(?P<cue>going forward|in (?:the )?future)\s*,?\s+(?:please|always|never|do\s*n['’o]?t|` + verbs + `)\b`)},
		{match: re(lead + `(?:do\s*n['’o]?t|do not)\s+(?P<cue>ever)\s+[a-z][a-z'-]+`)},
		{match: re(lead + ought + `(?P<cue>always)\s+[a-z][a-z'-]+`), unless: reports},
		{match: re(lead + ought + `(?P<cue>never)(?:\s+ever)?\s+[a-z][a-z'-]+`),
			unless: re(reports.String() +
				`|(?i)\bnever (?:got|knew|saw|said|asked|told|thought|understood|used|made|came|went|found|finished|wanted|mentioned|installed|wrote|ran|committed|pushed|merged|intended|meant|liked|tried)\b`)},
		{match: re(`(?i)(?:^|[,;:—-]\s*|\b(?:and|but|so|that)\s+)(?:we|you|` + place +
			`,?\s+(?:we|you)?)\s*(?:should\s+|must\s+)?(?P<cue>always|never)\s+(?:ever\s+)?` + verbs + `\b`), unless: reports},
		{match: re(lead + `(?:when|whenever|if|before|after|for|in)\s[^,]{1,80},\s*(?:please\s+)?(?P<cue>always|never)\s+` +
			verbs + `\b`), unless: reports},
		{match: re(lead +
			`(?:add|save|write|put|store|note)(?: down)? (?P<cue>(?:to|in|into) (?:your |the |long[- ]term |project )*memory)\s*[:,—-]`)},
		{match: re(
			`(?i)\b(?:add|save|write|put|store|commit|make a note of|note) (?:this|that|it)(?: down)? (?P<cue>(?:to|in|into) (?:your |the |long[- ]term |project )*memory)\b`),
			back: re(lead +
				`(?i:(?:can you |please )?(?:add|save|write|put|store|commit|make a note of|note) (?:this|that|it)(?: down)? (?:to|in|into) (?:your |the |long[- ]term |project )*memory)[.!]*$`)},
	}
	korean := []cue{
		{match: re(`(?P<cue>기억해\s*(?:줘|주세요|둬|두세요|두어|놔|라|요|줄래|달라)|기억하(?:세요|십시오|도록|자|고 있어)|기억해(?:$|[.!,:：]))`),
			unless: re(`기억해야 (?:했|할까)|기억해\?`),
			back: re(
				`^(?:이거|이것|이걸|그거|그걸|꼭|이 ?점|이 ?내용|위 ?내용|을|를|은|는|도|좀|잘|\s)*기억해\s*(?:줘|주세요|둬|두세요|두어|놔|라|요|줄래|달라)?\s*[.!~]*$`)},
		{match: re(`(?P<cue>잊지\s*(?:마|말))`)},
		{match: re(
			`(?P<cue>앞으로(?:는|도)?|이제부터(?:는)?|지금부터(?:는)?|다음부터(?:는)?)(?:\s|,).*(?:해|해줘|하자|하세요|하도록|할 것|해라|써|쓰자|쓰세요|사용|마|마라|마세요|말 것|말아줘|말자|줘|주세요|돼|된다|됩니다)\s*[.!~]*$`)},
		{match: re(
			`(?P<cue>항상|언제나|늘|매번)\s.*(?:해|해줘|해주세요|하자|하세요|하도록|하도록 해|할 것|해라|써|써줘|쓰자|쓰세요|사용해|사용할 것|마|마라|마세요|말 것|말아줘|줘|주세요|야 돼|야 해|야 한다|야 합니다|유지|확인)\s*[.!~]*$`), unless: re(`못\s*해|안\s*해|실패해|반환해$|발생해|동작해|필요해|이상해`)},
		{match: re(`(?P<cue>절대(?:로)?|결코)\s.*(?:마|마라|마세요|말 것|말아줘|말아주세요|말자|금지|안 돼|안돼|안 됩니다|안됩니다)\s*[.!~]*$`)},
	}
	japanese := []cue{
		{match: re(`(?P<cue>(?:覚えて|記憶して)(?:おいて|おけ|ください|下さい|ね|くれ|ほしい|$)|(?:覚えて|記憶して)[。.!！]?$|忘れないで)`),
			unless: re(`覚えて(?:いますか|いる\?|ますか|いない|ない)`),
			back:   re(`^(?:これ|それ|このこと|以上|を|は|も|よく|ちゃんと|必ず|、|\s)*(?:覚えて|記憶して|忘れないで)[^:：、]*$`)},
		{match: re(
			`(?P<cue>今後(?:は|も|、)|これから(?:は|も)|次回(?:から|以降)(?:は)?|以降は).*(?:して|してください|して下さい|すること|しないで|しないでください|禁止|使って|使ってください|使う|使うこと|お願い|お願いします|しろ|するな|ください|下さい|こと)[ね。.!！]*$`)},
		{match: re(
			`(?P<cue>常に|いつも|必ず|毎回).*(?:して|してください|して下さい|すること|しないで|しないでください|使って|使ってください|使うこと|お願いします|しろ|するな|ください|下さい|こと)[ね。.!！]*$`),
			unless: re(`(?P<once>今回|まず|この(?:後|あと))`)},
		{match: re(`(?P<cue>(?:絶対|決して)(?:に|は)?).*(?:しないで|ないで|するな|な|禁止|しないこと|ないこと|ください|下さい)[ね。.!！]*$`)},
	}
	chinese := []cue{
		{match: re(`^(?:请|請|你|也|并|另外|还有|務必|务必|一定|一定要|要|，|,|\s)*(?P<cue>记住|記住|牢记|牢記|谨记|謹記)`),
			unless: re(`[吗嗎呢]\s*[?？]?$|记住了吗|記住了嗎`),
			back:   re(`^(?:请|請|你|也|把|将|這|这|一定|务必|務必|要|\s)*(?:记住|記住|牢记|牢記)(?:这个|這個|这点|這點|这一点|它|了)?[。.!！]*$`)},
		{match: re(
			`(?P<cue>(?:从|從)(?:现在|現在|今)(?:开始|開始|起|以后|以後)|今后|今後|以后(?:都|要|请|不要|别|每次|必须)|以後(?:都|要|請|不要|別|每次|必須)|(?:将|將)来(?:都|要)).*`), unless: re(`[吗嗎呢]\s*[?？]?$|は|する|して|今後の`)},
		{match: re(`(?:^|[，,。：:；;]|请|請|你)(?P<cue>(?:永远|永遠|绝对|絕對|千万|千萬|绝|絕)(?:不要|别|別|不能|不可以|不许|不許|不得|禁止))`),
			unless: re(`[吗嗎呢]\s*[?？]?$`)},
		{match: re(
			`(?:^|[，,。：:；;]|请|請|要|必须|必須|应该|應該|你|我们|我們)(?P<cue>始终|始終|永远|永遠|总是|總是|每次都)(?:要|请|請|用|使用|保持|运行|運行|先|以|在|把|将|遵循|遵守|检查|檢查|不要|别|別|写|寫|优先|優先)`), unless: re(`[吗嗎呢]\s*[?？]?$|报错|報錯|失败|失敗`)},
	}
	return [][]cue{english, korean, japanese, chinese}
})
