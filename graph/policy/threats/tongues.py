"""The two commonest attacks in other languages: set the earlier instructions aside, show the hidden ones.

Languages: German, French, Spanish, Portuguese, Italian, Dutch, Polish, Russian, Roman Urdu, Urdu, Hindi, Arabic and
Chinese. A verb of dropping or showing, a word for "earlier", "all", "hidden" or "your", and a word for instructions stand close together.
"""

import re
import unicodedata

from graph.policy.threats.rule import Rule, rule

_GAP = r"(?: [^\s.!?;]+){0,3}? "
# Language → verbs of dropping, words for all or earlier, verbs of showing, words for hidden or yours, nouns.
_WORDS = {
    "German": (r"vergiss|vergesst|vergessen sie|ignorier\w*|missachte\w*|verwirf|übergeh\w*", r"alle\w*|bisherige\w*|vorherige\w*|vorangehende\w*|vorangegangene\w*|frühere\w*|obige\w*|obenstehende\w*|deine\w?|ihre",
               r"zeig\w*|nenn\w*|verrat\w*|gib|wiederhol\w*|druck\w*|schreib\w*|offenbar\w*", r"dein\w*|ihre\w*|versteckte\w*|geheime\w*|verborgene\w*|gesamte\w*|obige\w*", r"anweisung\w*|befehl\w*|vorgabe\w*|instruktion\w*|aufträge|aufgaben|regeln|richtlinien|system-?prompt\w*|prompt\w*|eingabeaufforderung"),
    "French": (r"oubli\w+|ignor\w+|ne tiens? plus compte", r"toutes?|tous|précédent\w*|antérieur\w*|vos|tes|ci-dessus", r"montr\w+|affich\w+|révèl\w+|répèt\w+|donne\w*|écri\w+", r"tes|ton|vos|votre|cachée?s?|secr[eè]t\w*|système", r"instructions?|consignes?|règles?|ordres?|directives?|prompts?|invite"),
    "Spanish": (r"olvid\w+|ignor\w+|descarta\w*", r"tod[ao]s?|anterior\w*|previ[ao]s?|tus|sus", r"muestr\w+|revel\w+|repit\w+|dime|imprim\w+|escrib\w+", r"tus?|sus?|ocult[ao]s?|secret[ao]s?|sistema", r"instruccion\w*|órdenes|ordenes|reglas|directrices|prompts?|indicaciones"),
    "Portuguese": (r"esqueç\w+|ignor\w+|desconsider\w+", r"tod[ao]s?|anterior\w*|prévi[ao]s?|suas?|seus?", r"mostr\w+|revel\w+|repit\w+|imprim\w+|escrev\w+", r"suas?|seus?|ocult[ao]s?|secret[ao]s?|sistema", r"instruções|ordens|regras|diretrizes|prompts?"),
    "Italian": (r"dimentic\w+|ignor\w+", r"tutt[ei]|precedent\w*|tue|sue", r"mostr\w+|rivel\w+|ripet\w+|stamp\w+|scriv\w+", r"tu[eoi]|su[eoi]|nascost\w+|segret\w+|sistema", r"istruzioni|ordini|regole|direttive|prompt\w?"),
    "Dutch": (r"vergeet|negeer\w*", r"alle|vorige|eerdere|bovenstaande|je|jouw", r"toon|laat|onthul|herhaal|geef", r"je|jouw|geheime|verborgen|systeem", r"instructies|opdrachten|regels|richtlijnen|prompts?|systeemprompt"),
    "Polish": (r"zapomnij|zignoruj|ignoruj|pomiń", r"wszystk\w+|poprzedni\w+|wcześniejsz\w+|swoj\w+", r"pokaż|ujawnij|powtórz|wypisz", r"swoj\w+|ukryt\w+|tajn\w+|systemow\w+", r"instrukcj\w+|polece\w+|zasad\w*|reguł\w*|prompt\w*"),
    "Russian": (r"забудь\w*|игнорируй\w*", r"вс[её]\w*|предыдущ\w+|прошл\w+|прежн\w+|свои", r"покажи\w*|раскрой\w*|повтори\w*|выведи\w*", r"сво[ийё]\w*|скрыт\w+|секретн\w+|системн\w+", r"инструкци\w+|указани\w+|правил\w*|команд\w*|промпт\w*"),
    "Roman Urdu": (r"bhool jao|bhula do|bhul jao|ignore kar\w*|nazar ?andaz kar\w*|chho?r do", r"sab|saari|sari|tamam|pichh?li|pichh?le|pehl[aei]|apn[ei]", r"dikhao|dikha do|batao|bata do|likho|likh do|repeat karo|nikalo", r"apn[aei]|chh?up[aei]\w*|khufia|secret|hidden|system", r"hidayat\w*|instructions?|rules|usool|prompt|ahkam|ahkamat"),
    "Urdu": (r"بھول جاؤ|بھول جائیں|نظر ?انداز کر\w*|چھوڑ دو", r"تمام|سب|پچھلی|پچھلے|پہلی|اپنے|اپنی", r"دکھاؤ|دکھائیں|بتاؤ|لکھو|دہراؤ", r"اپنا|اپنی|اپنے|خفیہ|چھپ\w+|سسٹم", r"ہدایات|احکامات|اصول|قواعد|پرامپٹ|متن"),
    "Hindi": (r"भूल जाओ|भूल जाइए|अनदेखा कर\S*|नज़रअंदाज़ कर\S*", r"सभी|सब|पिछले|पिछली|अपने", r"दिखाओ|दिखाइए|बताओ|लिखो", r"अपना|अपने|छिपा|छिपे|गुप्त|सिस्टम", r"निर्देश\S*|नियम\S*|आदेश\S*|प्रॉम्प्ट"),
    "Arabic": (r"تجاهل|انس|انسَ", r"جميع|كل|السابقة|كافة", r"اعرض|أظهر|اكشف|كرر|اكتب", r"المخفي\w*|السري\w*|النظام|تعليماتك", r"التعليمات|تعليمات|الأوامر|القواعد|تعليماتك|موجه\w*|النص"),
}  # fmt: skip


def _plain(source: str) -> str:
    """Latin letters without their accents, as the canonical text has them."""
    return unicodedata.normalize("NFC", re.sub(r"([a-z])[\u0300-\u036f]+", r"\1", unicodedata.normalize("NFD", source)))


def _rules() -> tuple[Rule, ...]:
    found = []
    for language, (drop, which, show, hidden, noun) in _WORDS.items():
        aside = (
            rf"(?<!\w)(?:(?:{drop}){_GAP}(?:{which}){_GAP}(?:{noun})|(?:{which}){_GAP}(?:{noun}){_GAP}(?:{drop}))(?!\w)"
        )
        out = rf"(?<!\w)(?:(?:{show}){_GAP}(?:{hidden}){_GAP}(?:{noun})|(?:{hidden}){_GAP}(?:{noun}){_GAP}(?:{show}))(?!\w)"
        found += [
            rule("prompt_injection", 0.9, f"asks to set earlier instructions aside ({language})", _plain(aside)),
            rule("prompt_extraction", 0.85, f"asks for hidden instructions ({language})", _plain(out)),
        ]
    chinese = r"(?:忽略|忘记|忘掉|无视|不要理会).{0,8}(?:所有|之前|以前|以上|先前|一切|你的).{0,8}(?:指令|指示|规则|要求|命令|提示)"
    shown = r"(?:显示|输出|告诉我|重复|透露).{0,8}(?:隐藏|系统|你的|秘密).{0,6}(?:提示|指令|规则)"
    found.append(rule("prompt_injection", 0.9, "asks to set earlier instructions aside (Chinese)", chinese))
    found.append(rule("prompt_extraction", 0.85, "asks for hidden instructions (Chinese)", shown))
    return tuple(found)


RULES = _rules()
