package facts

import (
	"slices"
	"strings"
	"sync"
)

// The word lists. Each is built when it is first needed.

func wordSet(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// stopWords are words without content of their own, including those that introduce a speaker.
var stopWords = sync.OnceValue(func() map[string]bool {
	return wordSet(
		`a an the this that these those it its it's i i'm i'd i'll i've im my mine me myself you your yours yourself he
		she his her hers him they them their theirs we we're we'll we've our ours us who whom whose which what when
		where why how there here is are was were be been being am 's do does did done doing have has had having will
		would shall should can could may might must ought and or but if then else so because as than though although
		while until since before after during of to in on at by for with from into onto over under about against
		between through per via upon out up down off again just only also too very really quite much many more most
		some any all each every both either few other another such same own s t d ll re ve m yes yeah ok okay oh hey hi
		hello well let lets let's please thanks thank now still already yet ever even said say says saying told tell
		tells asked ask asks asking mention mentions mentioned stated states state explained explains report reports
		reported noted notes confirmed confirms stated think thinks thought believe believes believed feel feels felt
		want wants wanted wish wishes request requests requested decide decides decided decision like likes liked would
		one ones thing things something anything everything someone anyone get gets got getting go goes going gone went
		make makes made making user users assistant claude session conversation recently currently etc lot lots bit
		kind sort way able
		그 이 저 것 수 등 및 그리고 하지만 합니다 했다 한다 하는 해서 했습니다 요청했다 원한다 말했다`)
})

// negations negate the words after them.
var negations = sync.OnceValue(func() map[string]bool {
	return wordSet(
		`not no never cannot without none nothing nobody nowhere neither nor dont doesnt didnt wont cant isnt arent
		wasnt shouldnt
		안 못 없이 않고 않는다 않았다 않음 없다 없음 없는 않도록 말고 마세요 말것 아니라 아니다 금지 하지마 마 마라 마요 마십시오 말 말라 말자 말아 말아줘 말아라 말아요 말아주세요 않아 않아요
		않습니다 않는 않은 않을 않게 않기 안돼 안됩니다
		禁止 ない せん`)
})

// notNegations are pairs of characters that begin like a Chinese negation: "not only", "but", "different", "defect".
var notNegations = sync.OnceValue(func() map[string]bool {
	return wordSet(`不仅 不僅 不但 不过 不過 不同 不断 不斷 不管 不论 不論 不少 不错 不錯 不足 不具 没收`)
})

// weakNegations are stems of words with a negative meaning.
var weakNegations = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range wordSet(
		`avoid forbid forbidden ban prohibit disallow reject refuse decline dislike hate exclude disable skip drop omit
		ignore prevent lack lacking missing absent fail failed failing unable impossible stop remove removed delete
		deleted instead rather unless hardly rarely barely empty except broken wrong unlike zero`) {
		out[stem(w)] = true
	}
	return out
})

// clauseStarts begin a new clause.
var clauseStarts = sync.OnceValue(func() map[string]bool {
	return wordSet(`but because so since although though while whereas however then therefore which 하지만 그러나 대신`)
})

// speakerVerbs are the verbs that follow the name of a speaker.
var speakerVerbs = sync.OnceValue(func() []string {
	return strings.Fields(
		`want wants wanted ask asks asked prefer prefers preferred decide decides decided choose chooses chose need
		needs needed say says said state states stated request requests requested like likes liked dislike dislikes
		insist insists insisted approve approves approved agree agrees agreed reject rejects rejected refuse refuses
		refused confirm confirms confirmed tell tells told report reports reported require requires required expect
		expects expected plan plans planned suggest suggests suggested propose proposes proposed hate hates hated allow
		allows allowed forbid forbids forbade does did is was has had will would never always thinks thought believes
		believed explained noted mentioned instructed fixed added removed changed created wrote found ran updated
		implemented edited refactored deleted tested read used`)
})

// irregular maps forms of words that the stemmer does not know to their base form.
var irregular = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(
		`be is are was were been|have has had|do does did done|go goes went gone going|make made|take took taken|
		give gave given|get got gotten|find found|write wrote written|choose chose chosen|break broke broken|run ran|
		begin began begun|buy bought|bring brought|think thought|keep kept|leave left|lose lost|send sent|spend spent|
		build built|hold held|tell told|sell sold|say said|see saw seen|know knew known|grow grew grown|draw drew drawn|
		throw threw thrown|fall fell fallen|speak spoke spoken|drive drove driven|ride rode ridden|eat ate eaten|
		come came|become became|win won|meet met|feel felt|teach taught|catch caught|fight fought|swim swam swum|
		sing sang sung|drink drank drunk|sleep slept|wear wore worn|forget forgot forgotten|understand understood|
		stand stood|sit sat|hide hid hidden|child children|person people|man men|woman women|foot feet|mouse mice|
		index indices indexes|day days|life lives|wife wives|half halves|good better best|bad worse worst|
		mom mother mum mothers moms|dad father fathers dads|kid kids|config configuration configurations configs|
		repo repository repositories|db database databases|app application applications|auth authentication|
		doc documentation docs document documents|env environment environments|param parameter parameters params|
		dir directory directories dirs|dependency dependencies dep deps|lib library libraries libs|
		spec specification specs|function func funcs functions|message msg messages|timeout timeouts|max maximum|
		min minimum|admin administrator|info information`, "|") {
		words := strings.Fields(line)
		for _, w := range words[1:] {
			out[w] = words[0]
		}
	}
	return out
})

// synonyms are the synonyms of a stem.
var synonyms = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for group := range strings.SplitSeq(
		`fix repair resolve solve correct patch mend|add create introduce insert include append put new|
		remove delete drop eliminate strip rid|
		change update modify edit alter adjust revise rewrite replace switch swap|
		use adopt choose pick select employ apply utilize prefer|
		fail break crash error broken failure fault bug issue problem wrong defect|
		prefer like love enjoy favor favour want favorite favourite fond|show display print output render list|
		move migrate transfer relocate port|rename name call|increase raise grow bump|reduce decrease lower shrink cut|
		check verify validate test confirm|start begin launch kick|stop end finish quit cease|help assist support aid|
		build compile|allow permit enable let|forbid ban prohibit disallow disable prevent block avoid never|
		big large huge|small little tiny|fast quick speed rapid|slow lag sluggish|cause reason root lead|
		limit cap restrict bound restriction|require need must necessary|keep retain preserve stay remain|
		write save store persist record|fetch get load retrieve read|missing lack absent|return give yield|
		plan intend aim hope going|buy purchase get bought|visit attend go join went travel trip|
		child kid son daughter children kids|parent mother father mom dad|friend buddy pal|pet dog cat puppy kitten|
		job work career profession|house home place|happy glad excited thrill joy proud|sad upset unhappy|
		learn study practice|paint draw art|run jog race marathon|hike walk trail camp|make create build produce craft|
		talk speak chat discuss conversation|picture photo image photograph|car vehicle|movie film|
		meet met encounter see|inspire motivate encourage|important matter significant key essential|
		start found open launch|daily day everyday|weekly week|monthly month|yearly year annual|
		implement write add build develop code|refactor restructure clean rework|
		investigate look explore examine inspect|document describe explain doc|commit push merge|
		deploy release ship publish|instead replace rather|once single one|twice two|parallel concurrent|
		handle process deal|send post submit|receive accept get|split separate divide|combine merge join|
		identical same equal|contain have hold include|require demand|file document|folder directory dir|
		function method|argument parameter option flag|setting config option|wait delay sleep|retry again|
		guide guideline rule|request ask`, "|") {
		stems := strings.Fields(group)
		for i, w := range stems {
			stems[i] = stem(w)
		}
		for _, a := range stems {
			for _, b := range stems {
				if a != b && !slices.Contains(out[a], b) {
					out[a] = append(out[a], b)
				}
			}
		}
	}
	return out
})

func isSynonym(a, b string) bool { return slices.Contains(synonyms()[a], b) }

// antonyms are the antonyms of a stem.
var antonyms = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for pair := range strings.SplitSeq(
		`enable disable|allow forbid|add remove|increase decrease|increase reduce|raise lower|open close|pass fail|
		start stop|before after|first last|always never|more less|most least|sync async|synchronous asynchronous|
		public private|true false|on off|up down|left right|upgrade downgrade|encrypt decrypt|lock unlock|accept reject|
		approve reject|success failure|succeed fail|include exclude|import export|client server|local remote|old new|
		love hate|like dislike|agree disagree|buy sell|win lose|married single|married divorced|early late|hot cold|
		indoor outdoor|inside outside|fast slow|small large|small big|good bad|happy sad|brother sister|mother father|
		son daughter|husband wife|morning evening|morning night|summer winter|frontend backend|tabs spaces|
		upload download|minimum maximum|min max|ascending descending|read write|push pull|connect disconnect|
		static dynamic|strict loose|required optional|manual automatic|safe unsafe|valid invalid|north south|east west|
		older younger|easy difficult|easy hard|keep drop|fine broken|fine wrong|work broken|work fail|correct wrong|
		right wrong`, "|") {
		w := strings.Fields(pair)
		a, b := stem(w[0]), stem(w[1])
		out[a], out[b] = append(out[a], b), append(out[b], a)
	}
	return out
})
