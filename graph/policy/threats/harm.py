"""Requests for help with grave harm. Questions about the same things in a safety or legal light stay."""

from graph.policy.rubric import Finding
from graph.policy.threats.rule import rule

_HOW = r"(?:how (?:to|do i|can i|would i|could i|do you|does one|can one)|(?:step[- ]by[- ]step )?(?:instructions?|guide|recipe|tutorial|steps|plan|manual|blueprint)s? (?:for|to|on|of)|help me(?: to)?|teach me(?: how)?(?: to)?|show me how to|tell me how to|explain how to|(?:write|create|develop|give me|provide|make|build|generate|code)(?: me)?(?: a| an| the| some)?)"
# What may be killed without harm to anybody, and deeds against an attack.
_THING = r"(?:(?!(?:with|using|by|via|in|and|or|for|of|on|at|from|to|as|if|after|before|during|while|when|without|who|that|the|an?|my|his|her|their|your)\b)\w+ ){0,2}(?:process(?:es)?|jobs?|tasks?|threads?|sessions?|programs?|services?|daemons?|containers?|quer(?:y|ies)|weeds?|mou?lds?|moss|algae|bacteria|germs?|microbes?|viruses|cells?|cultures?|yeasts?|fung(?:us|i)|spores?|insects?|mites?|lice|pests?|mosquito(?:e?s)?|tumou?rs?|cancers?|smells?)\b"
# Who stores or disposes of a dangerous thing does not ask to make it.
_BETWEEN = r"(?:(?!\b(?:dispos\w+|stor(?:e|ing|age)|handl\w+|transport\w*|label\w*|neutrali[sz]\w+|clean\w*|recogni[sz]e|identify)\b).)"
_AGAINST = r"(?!(?: (?:an?|the|some))? (?:report|recogni[sz]e|detect\w*|spot|avoid|prevent\w*|defend|protect|block|filter|flag)\b)"
_RULES = (
    rule("harmful_request", 0.92, "asks how to make a weapon",
         rf"\b{_HOW}\b{_BETWEEN}{{0,60}}?\b(?:mak(?:e|ing)|build(?:ing)?|construct(?:ing)?|synthesi[sz](?:e|ing)|assembl(?:e|ing)|creat(?:e|ing)|produc(?:e|ing)|3d[- ]print(?:ing)?|manufactur(?:e|ing)|cook(?:ing)?)?{_BETWEEN}{{0,30}}?\b(?:(?:pipe |nail |dirty |fertili[sz]er |home-?made |car |chemical |nuclear )?bombs?|explosives?(?! (?:or|and|chemicals?|substances?|materials?|waste|atmospheres?|mixtures?|limits?|gas(?:es)?|growth)\b)|nerve (?:agents?|gas)|sarin|vx gas|mustard gas|ricin|anthrax|bio-?weapons?|chemical weapons?|molotov\w*|ied|ghost guns?|methamphetamine|crystal meth|fentanyl|napalm)\b(?!.{{0,40}}\b(?:safety|detect\w*|regulat\w*|law|polic\w*|protect\w*|report\w*|history)\b)"),
    rule("harmful_request", 0.9, "asks for malware or an intrusion",
         rf"\b{_HOW}\b{_AGAINST}.{{0,50}}?\b(?:ransomware|malware|computer virus|worm that|keylogger|trojan|botnet|rootkit|phishing (?:e-?mails?|pages?|sites?|campaigns?|kit)|ddos|hack(?:ing)? into|crack(?:ing)? (?:a |the |someone'?s )?(?:password|account|wi-?fi)|steal(?:ing)? (?:passwords?|credentials|credit cards?|identit\w+|data)|break(?:ing)? into)\b(?!.{{0,40}}\b(?:detect\w*|prevent\w*|defen[cs]e|protect\w*|polic\w*|report\w*|awareness|response|recogni[sz]e)\b)"),
    rule("harmful_request", 0.9, "asks how to hurt a person",
         rf"\b{_HOW} (?:\w+ ){{0,4}}?(?:kill|murder|poison|assassinate|kidnap|stalk|blackmail|torture|strangle|drug|traffic|groom|rape|molest) (?:(?:my |a |an |the |some |any )(?!{_THING})|him|her|them|people|child|children|person|someone)"),
    rule("harmful_request", 0.85, "asks about ending one's life",
         r"\b(?:how (?:to|do i|can i)|best way to|painless(?:ly)?(?: way to)?) (?:commit suicide|kill myself|end my life|hang myself|overdose)\b"),
)  # fmt: skip


def find(text: str, tenant: str) -> list[Finding]:
    return [finding for rule in _RULES for finding in rule.find(text)]
