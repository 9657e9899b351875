"""Settings: the environment (`CORDON_*`), then `cordon.toml`, validated once and frozen."""

import ipaddress
import os
import re
import tomllib
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, ValidationInfo, field_validator

from graph import processors
from graph.errors import BadSettings
from graph.options import MOST_TOP_K

CONFIG_FILE = "cordon.toml"
PREFIX = "CORDON_"
_OPENAIS = ("openai_base_url", "openai_api_key")  # also read under OpenAI's own names
LEAST_CONTEXT = 1_024  # tokens
SMALL_CONTEXT = 8_192  # tokens, up to which a model is taken for a small one on a machine of one's own
EXCERPTS = 330  # words that such a model is shown (docs/models.md)
MOST_PROCESSES = 4  # unless asked for: each holds about 250 MB


class Settings(BaseModel):
    """Every setting, with its default. `CORDON_TOP_K=8` or `top_k = 8` in cordon.toml sets `top_k`."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    home: Path = Field(Path(".cordon"), description="where index, memory, audit and uploads live (mode 0700)")
    out: Path = Field(Path("out"), description="where the artefacts of each run go")
    artifacts: bool = Field(True, description="write the artefact folder of each run")
    keep_drafts: bool = Field(
        False, description="keep what a model wrote, masked, in that folder: `cordon audit replay` needs it"
    )

    model: str = Field("embedded", min_length=1, description="`embedded`, or a model name served at openai_base_url")
    embeddings: str = Field(
        "embedded", min_length=1, description="`embedded`, a folder with an ONNX encoder, or an embedding model's name"
    )
    vectors: Literal["exact", "chroma"] = Field(
        "exact", description="what looks for a question's neighbours: every vector compared, or Chroma (HNSW)"
    )
    chroma_url: str = Field(
        "",
        description="a Chroma server, `http://HOST:8000`, which a service needs; else its files are in `home`",
    )
    embeddings_pooling: Literal["", "mean", "cls", "last"] = Field("", description="of a folder's encoder; as it says")
    embeddings_query: str = Field("", description="put before a question, where the encoder wants that")
    embeddings_passage: str = Field("", description="put before a passage, for a folder's encoder")
    reader: str = Field("embedded", min_length=1, description="`embedded`, or a folder with an ONNX cross-encoder")
    openai_base_url: str = Field("", description="an OpenAI-compatible endpoint; also read from OPENAI_BASE_URL")
    openai_api_key: SecretStr = Field(SecretStr(""), description="its key; also read from OPENAI_API_KEY")
    temperature: float = Field(0.3, ge=0, le=2)
    max_tokens: int = Field(500, ge=16, le=32_000, description="of an answer; an assessment may take four times that")
    context: int = Field(
        0,
        ge=0,
        le=100_000_000,
        description="tokens the model reads and writes at once; 0: evidence is cut only when it says so",
    )
    evidence_words: int = Field(
        -1,
        ge=-1,
        le=100_000,
        description="words of evidence that a model is shown, those that may answer; 0: whole passages; -1: "
        f"{EXCERPTS} where CORDON_CONTEXT is {SMALL_CONTEXT:,} or less, else whole passages",
    )
    model_timeout_s: float = Field(60, gt=0, le=600)
    model_retries: int = Field(2, ge=0, le=5)
    draft_form: Literal["auto", "json", "prose"] = Field(
        "auto",
        description="how the model writes an answer: `json`, or `prose`; `auto`: prose "
        f"where CORDON_CONTEXT is {SMALL_CONTEXT:,} or less, else JSON",
    )
    support: Literal["strict", "marked"] = Field(
        "strict",
        description="a sentence of a chat model that the evidence supports only weakly: left out, or shown with a mark",
    )
    support_model: str = Field(
        "embedded",
        description="what reads whether evidence supports a sentence; or a folder with an ONNX cross-encoder",
    )
    support_opinion: Literal["auto", "off"] = Field(
        "auto", description="ask the chat model whether the passage says a sentence: `auto`, where its server can tell"
    )
    triage_model: bool = Field(False, description="ask the model for its opinion in triage; it can only raise the risk")

    guard_borders: str = Field(
        "",
        description="scores that guard and block: `injection=0.5/0.9,U1:harm=0.2`; one number only guards",
    )
    detector: str = Field("", description="a folder with an ONNX classifier, or entry:NAME of an installed package")
    detector_labels: str = Field(
        "", description="what its labels mean: `INJECTION=injection,SAFE=-`; common names are known"
    )
    detector_borders: str = Field(
        "",
        description="probabilities that guard and block: `injection=0.5/0.9`; one number only guards",
    )
    detector_role: Literal["joins", "replaces"] = Field(
        "joins", description="it joins the learned layer and can only raise the risk, or replaces it for questions"
    )
    detector_documents: bool = Field(False, description="let it read the passages shown, too, for instructions")
    detector_ms: int = Field(
        5_000, ge=1, le=600_000, description="for a question, or a passage; what takes longer is blocked"
    )
    detector_threads: int = Field(2, ge=1, le=256, description="of a folder's classifier")

    top_k: int = Field(5, ge=1, le=MOST_TOP_K, description="chunks given to the generator")
    rerank: Literal["auto", "on", "off"] = Field(
        "auto",
        description="choose them from three times as many by the reader; `auto`: where it reads anyway (the embedded "
        "answerer, small models)",
    )
    relevance_floor: float = Field(0.2, ge=0, le=1, description="a chunk below this score is no evidence")
    chunk_tokens: int = Field(500, ge=50, le=2_000)
    chunk_overlap: int = Field(50, ge=0, le=500)
    memory_turns: int = Field(8, ge=1, le=50, description="turns kept word by word in buffer memory")

    review: str = Field(
        "none", description="what waits for a reviewer: `assessments`, `guarded` (answers), `assessments,guarded`"
    )
    review_waiting: int = Field(100, ge=1, le=1_000, description="answers of a tenant that may wait for a reviewer")
    review_days: int = Field(14, ge=1, le=365, description="after which an answer that nobody reviewed is refused")

    min_question_chars: int = Field(3, ge=1, le=100)
    max_question_chars: int = Field(8_000, ge=100, le=100_000)
    max_file_mb: int = Field(25, ge=1, le=1_000)
    parse_seconds: int = Field(60, ge=1, le=600)
    ingest_seconds: int = Field(900, ge=1, le=36_000, description="an uploaded file that takes longer is quarantined")
    keep_originals: bool = Field(
        True, description="keep PDF and office files as they came, inside the index: pages are shown from them, masked"
    )
    libreoffice: str = Field(
        "", description="the program that lays out office files for pictures; `soffice` on PATH, unless set; or `off`"
    )
    planted: Literal["flag", "quarantine"] = Field("flag", description="what ingestion does with planted instructions")
    mask: Literal["basic", "more"] = Field(
        "basic", description="`more` masks ids beside their word, names and streets in prose, too"
    )
    role_addresses: Literal["mask", "show"] = Field(
        "mask", description="what becomes of info@, press@ and the like in public documents"
    )
    allow_private_urls: bool = Field(False, description="let `ingest URL` reach loopback and private addresses")

    private_hosts: str = Field(
        "", description="hosts inside, comma separated, that `cordon sync URL` may reach: `cloud.local`"
    )
    sync_files: int = Field(50_000, ge=1, le=10_000_000, description="a source with more of them is not synchronised")
    sync_mb: int = Field(10_240, ge=1, le=10_000_000, description="that one run of `cordon sync` reads, at most")
    sync_seconds: int = Field(7_200, ge=1, le=604_800, description="that one run of `cordon sync` takes, at most")
    sync_user: str = Field("", description="who `cordon sync URL` signs in as; else as ~/.netrc says")
    sync_password: SecretStr = Field(SecretStr(""), description="its password or token")

    head_key: SecretStr = Field(
        SecretStr(""), description="signs `cordon audit head`: an Ed25519 private key in PEM, or a file with one"
    )
    # One database for many machines (docs/operations.md).
    database_url: SecretStr = Field(
        SecretStr(""), description="`postgresql://…`: what is shared lies there, and not in home; the workers' role"
    )
    database_owner_url: SecretStr = Field(
        SecretStr(""), description="the same database as the role that owns the tables; `cordon migrate` alone uses it"
    )
    database_connections: int = Field(10, ge=1, le=1_000, description="to the database, of each process, at most")
    database_wait_s: float = Field(5, gt=0, le=120, description="how long to wait for a free connection; then 503")

    lock_wait_s: float = Field(5, ge=0, le=120, description="how long to wait while another process uses home")
    tracing: Literal["off", "jsonl", "otel", "langsmith"] = Field(
        "off", description="where the spans of each run go; nothing leaves the machine unless this says so"
    )
    trace_content: bool = Field(False, description="send the masked question and answer along too")
    studio_tenant: str = Field("", description="the one tenant that LangGraph Studio speaks for")
    studio_groups: str = Field(
        "", description="the groups of that tenant whose documents Studio may read: `staff,board`"
    )

    # The HTTP service (docs/service.md).
    serve_host: str = Field("127.0.0.1", min_length=1, description="where `cordon serve` listens")
    serve_port: int = Field(8_000, ge=0, le=65_535, description="0 takes a free one")
    serve_threads: int = Field(64, ge=1, le=1_024, description="questions answered at the same time")
    serve_processes: int = Field(
        0, ge=0, le=64, description="processes that answer; 0 is one for each core, at most 4; 1 does without others"
    )
    serve_queue: int = Field(64, ge=0, le=10_000, description="questions that may wait for a thread; more get 503")
    request_s: float = Field(120, gt=0, le=3_600, description="after which a request is answered with 504")
    key_rate: int = Field(120, ge=1, description="requests a minute for one key; more get 429")
    tenant_rate: int = Field(600, ge=1, description="requests a minute for all keys of a tenant")
    key_concurrency: int = Field(16, ge=1, description="requests of one key at the same time")
    tenant_concurrency: int = Field(48, ge=1, description="requests of one tenant at the same time")
    max_body_kb: int = Field(256, ge=1, le=100_000, description="a larger JSON body gets 413")
    max_upload_mb: int = Field(100, ge=1, le=100_000, description="a larger upload, all files together, gets 413")
    max_batch: int = Field(16, ge=1, le=1_000, description="questions in one LangServe batch")
    min_free_mb: int = Field(100, ge=0, description="with less room on the disk the service is not ready")
    cors_origins: str = Field(
        "", description="origins, comma separated, whose pages may call the service; none is safest"
    )
    metrics_access: Literal["loopback", "key", "open"] = Field(
        "loopback",
        description="who reads /metrics without an operator's key: this machine, nobody (key), anybody (open)",
    )
    tls_cert: str = Field("", description="PEM file with the certificate of `cordon serve`; with it it speaks TLS")
    tls_key: str = Field("", description="PEM file with its private key")
    jwt_public_key: str = Field("", description="PEM file; tokens signed with its private key are taken besides keys")
    jwt_audience: str = Field("", description="the `aud` such a token must have")
    jwt_issuer: str = Field("", description="the `iss` such a token must have")

    # People sign in with OpenID Connect, beside keys (docs/service.md).
    oidc_issuer: str = Field("", description="`https://…`, as the provider's tokens name it; people sign in there")
    oidc_client_id: str = Field("", max_length=200, description="by which the provider knows Cordon")
    oidc_client_secret: SecretStr = Field(SecretStr(""), description="empty for a public client")
    oidc_public_url: str = Field(
        "", description="`https://HOST` at which people open the page; not needed on this machine itself"
    )
    oidc_scopes: str = Field("openid profile", description="what the provider is asked for; `openid` is among it")
    oidc_user_claim: str = Field("sub", min_length=1, description="claim of the ID token that is the user")
    oidc_tenant_claim: str = Field("tenant", min_length=1, description="claim that is the tenant")
    oidc_groups_claim: str = Field("groups", min_length=1, description="claim that lists groups; without it, none")
    oidc_role_claim: str = Field(
        "role", min_length=1, description="claim that is the role, or lists it among others; without it, member"
    )
    oidc_idle_s: float = Field(3_600, ge=1, le=604_800, description="after which an unused session ends")
    oidc_session_s: float = Field(
        36_000, ge=1, le=2_592_000, description="after which every session ends: what changed in groups and role acts"
    )

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise BadSettings(_explain(error), hint="`cordon doctor` lists every setting.") from error

    @field_validator("openai_base_url", "chroma_url")
    @classmethod
    def _address(cls, value: str, info: ValidationInfo) -> str:
        place = "localhost:8000" if info.field_name == "chroma_url" else "localhost:11434/v1"
        wanted = f"an address such as http://{place} is expected"
        if not value:
            return value
        try:
            parts = urlsplit(value)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError as error:
            raise ValueError(wanted) from error
        if not usable:
            raise ValueError(wanted)
        return value

    @field_validator("oidc_issuer", "oidc_public_url")
    @classmethod
    def _sealed_address(cls, value: str, info: ValidationInfo) -> str:
        pathless = info.field_name == "oidc_issuer" or not urlsplit(value).path.strip("/")
        if value and not (is_sealed(value) and pathless):
            raise ValueError("https://HOST is expected; http:// is for this machine itself (localhost)")
        return value if info.field_name == "oidc_issuer" else value.rstrip("/")

    @field_validator("oidc_client_id")
    @classmethod
    def _known_there(cls, value: str, info: ValidationInfo) -> str:
        if info.data.get("oidc_issuer") and not value:
            raise ValueError("oidc_issuer needs it: the id that the provider gave Cordon")
        return value

    @field_validator("oidc_scopes")
    @classmethod
    def _asks_who(cls, value: str) -> str:
        if "openid" not in value.split():
            raise ValueError("`openid` must be among them, and blanks between")
        return value

    @field_validator("database_url", "database_owner_url")
    @classmethod
    def _database(cls, value: SecretStr) -> SecretStr:
        if value.get_secret_value() and not value.get_secret_value().startswith(("postgresql://", "postgres://")):
            raise ValueError("an address such as postgresql://USER:PASSWORD@HOST/NAME is expected")
        return value

    @field_validator("review")
    @classmethod
    def _reviewed(cls, value: str) -> str:
        if value != "none" and not set(map(str.strip, value.split(","))) <= {"assessments", "guarded"}:
            raise ValueError("none, assessments, guarded or assessments,guarded is expected")
        return value

    @field_validator("context")
    @classmethod
    def _holds(cls, value: int) -> int:
        if 0 < value < LEAST_CONTEXT:
            raise ValueError(f"it must be 0, or at least {LEAST_CONTEXT:,}: the rules and a passage take that much")
        return value

    @field_validator("chunk_overlap")
    @classmethod
    def _overlaps(cls, value: int, info: ValidationInfo) -> int:
        if value >= info.data.get("chunk_tokens", value + 1):
            raise ValueError(f"it must be less than chunk_tokens, which is {info.data['chunk_tokens']}")
        return value

    @field_validator("home", "out", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        if not str(value).strip():
            raise ValueError("a directory must be named; . is the working directory")
        return value

    @field_validator("home", "out", mode="after")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @property
    def processes(self) -> int:
        """How many processes answer."""
        return self.serve_processes or min(MOST_PROCESSES, processors.available())

    @property
    def reviewed(self) -> frozenset[str]:
        """What waits for a reviewer."""
        return frozenset() if self.review == "none" else frozenset(map(str.strip, self.review.split(",")))

    @property
    def words_of_evidence(self) -> int:
        """How many words of evidence a model is shown; 0: whole passages."""
        if self.evidence_words >= 0:
            return self.evidence_words
        return EXCERPTS if self._small_context else 0

    @property
    def reranks(self) -> bool:
        """Whether the reader chooses among more passages than are shown."""
        return self.rerank == "on" or (self.rerank == "auto" and (self.embedded or self.words_of_evidence > 0))

    @property
    def in_prose(self) -> bool:
        """Whether a model writes answers as prose."""
        return self.draft_form == "prose" or (self.draft_form == "auto" and self._small_context)

    @property
    def _small_context(self) -> bool:
        return 0 < self.context <= SMALL_CONTEXT

    @property
    def embedded(self) -> bool:
        """Whether no chat model answers."""
        return self.model == "embedded"


SECRETS = frozenset(name for name, field in Settings.model_fields.items() if field.annotation is SecretStr)


def load(directory: Path | None = None, environ: dict[str, str] | None = None, **overrides: Any) -> Settings:
    """The effective settings. Overrides beat the environment, which beats cordon.toml.

    Raises BadSettings naming the setting, what it was and what would be right.
    """
    environ = dict(os.environ) if environ is None else environ
    values = _from_file((directory or Path.cwd()) / CONFIG_FILE)
    values.update({name: environ[name.upper()] for name in _OPENAIS if environ.get(name.upper())})
    values.update(_from_environment(environ))
    values.update({key: value for key, value in overrides.items() if value is not None})
    return Settings(**values)


def origin(name: str, directory: Path | None = None, environ: dict[str, str] | None = None) -> str:
    """Where `load` takes a setting from: the variable, cordon.toml or default."""
    environ = dict(os.environ) if environ is None else environ
    if PREFIX + name.upper() in environ:
        return PREFIX + name.upper()
    if name in _OPENAIS and environ.get(name.upper()):
        return name.upper()
    return CONFIG_FILE if name in _from_file((directory or Path.cwd()) / CONFIG_FILE) else "default"


def is_sealed(address: str) -> bool:
    """Whether nobody on the way can read what goes to this address: https, or http to this machine itself. False too
    for an address with a user, a query or a fragment, and for what is no address."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        odd = parts.port == 0 or "@" in parts.netloc or parts.query or parts.fragment
    except ValueError:
        return False
    if not host or odd or not address.isprintable() or " " in address:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))


def is_loopback(host: str) -> bool:
    """Whether a name or an address is always that of the machine itself."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def without_credentials(address: str) -> str:
    """The address without user and password."""
    return re.sub(r"(?<=//).*@", "", address)


def _from_file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadSettings(f"{path.name} cannot be read: {error}.", hint="Mend or remove it.") from error
    _known(values, f"in {path.name}")
    return values


def _from_environment(environ: dict[str, str]) -> dict[str, Any]:
    # CORDON_EVAL_DATA says where the evaluations find their data, and stands in the environment of what they start.
    ours = (k for k in environ if k.startswith(PREFIX) and k != "CORDON_EVAL_DATA")
    values = {k[len(PREFIX) :].lower(): environ[k] for k in ours}
    _known(values, "in the environment", PREFIX)
    return values


def _known(values: dict[str, Any], where: str, prefix: str = "") -> None:
    import difflib

    for key in values:
        if key not in Settings.model_fields:
            near = difflib.get_close_matches(key, Settings.model_fields, n=1)
            shown = prefix + key.upper() if prefix else key
            wanted = (prefix + near[0].upper() if prefix else near[0]) if near else ""
            raise BadSettings(
                f"unknown setting {shown!r} {where}.",
                hint=f"Did you mean {wanted}?" if near else "`cordon doctor` lists every setting.",
            )


def _explain(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    value = first.get("input")
    value = without_credentials(value) if isinstance(value, str) else value
    shown = "a value that is not shown" if name in SECRETS else repr(value)
    return f"setting {name} = {shown} is not usable: {first['msg'].lower()}."
