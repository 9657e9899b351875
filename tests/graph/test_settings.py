"""Settings: where they come from, which wins, and what a mistake is told."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from graph.agent import Agent
from graph.errors import BadSettings
from graph.settings import Settings, load, origin


def test_the_defaults_need_nothing(tmp_path: Path) -> None:
    settings = load(tmp_path, {})
    assert (settings.model, settings.embeddings, settings.embedded) == ("embedded", "embedded", True)
    assert (settings.top_k, settings.temperature, settings.max_tokens) == (5, 0.3, 500)
    assert (settings.chunk_tokens, settings.chunk_overlap) == (500, 50)
    assert settings.tracing == "off"
    assert settings.home.is_absolute()


def test_file_then_environment_then_argument(tmp_path: Path) -> None:
    (tmp_path / "cordon.toml").write_text("top_k = 3\nmax_tokens = 100\nmodel = 'a'\n")
    settings = load(tmp_path, {"CORDON_TOP_K": "7", "CORDON_MODEL": "b"}, model="c")
    assert (settings.max_tokens, settings.top_k, settings.model) == (100, 7, "c")


def test_openais_own_names_are_read_and_ours_win(tmp_path: Path) -> None:
    environ = {"OPENAI_BASE_URL": "http://one/v1", "OPENAI_API_KEY": "k1"}
    assert load(tmp_path, environ).openai_base_url == "http://one/v1"
    assert load(tmp_path, {**environ, "CORDON_OPENAI_BASE_URL": "http://two/v1"}).openai_base_url == "http://two/v1"


def test_the_environment_wins_over_the_file_under_openais_names_too(tmp_path: Path) -> None:
    (tmp_path / "cordon.toml").write_text("openai_base_url = 'http://file/v1'\n  top_k = 3\nmax_tokens = 90\n")
    environ = {"OPENAI_BASE_URL": "http://one/v1", "OPENAI_API_KEY": ""}
    assert load(tmp_path, environ).openai_base_url == "http://one/v1"
    assert load(tmp_path, {}).openai_base_url == "http://file/v1"
    told = {name: origin(name, tmp_path, environ) for name in ("openai_base_url", "openai_api_key", "top_k", "max_tok")}
    assert told == {
        "openai_base_url": "OPENAI_BASE_URL",
        "openai_api_key": "default",
        "top_k": "cordon.toml",
        "max_tok": "default",
    }
    assert origin("openai_base_url", tmp_path, {**environ, "CORDON_OPENAI_BASE_URL": ""}) == "CORDON_OPENAI_BASE_URL"


@pytest.mark.parametrize(
    "address", ["http://[::1", "notaurl", "ftp://u:secret@x", "http://", "http://h:99999/v1", "localhost:11434/v1", " "]
)
def test_what_is_no_address_is_told_without_its_password(tmp_path: Path, address: str) -> None:
    with pytest.raises(BadSettings, match="setting openai_base_url = ") as caught:
        load(tmp_path, {"OPENAI_BASE_URL": address})
    assert "secret" not in str(caught.value)


def test_chunks_are_longer_than_what_they_share() -> None:
    with pytest.raises(BadSettings, match=r"chunk_overlap = 500 is not usable.* chunk_tokens, which is 50"):
        Settings(chunk_tokens=50, chunk_overlap=500)
    with pytest.raises(BadSettings, match="chunk_overlap = 50 is not usable"):
        Settings(chunk_tokens=50)


def test_a_bad_setting_in_python_is_one_of_ours() -> None:
    with pytest.raises(BadSettings, match="top_k = 0"):
        Settings(top_k=0)


@pytest.mark.parametrize(
    ("name", "value"),
    [("TOP_K", "0"), ("TOP_K", "51"), ("TOP_K", "five"), ("TEMPERATURE", "3"), ("MAX_TOKENS", "1"), ("MODEL", ""), ("TRACING", "on"), ("PLANTED", "obey"), ("RELEVANCE_FLOOR", "-0.1"), ("LOCK_WAIT_S", "-1"), ("TRIAGE_MODEL", "perhaps"), ("MODEL_TIMEOUT_S", "0")],
)  # fmt: skip
def test_a_bad_value_is_named_with_what_it_was(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(BadSettings) as caught:
        load(tmp_path, {f"CORDON_{name}": value})
    assert name.lower() in str(caught.value)
    assert repr(value) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_setting_is_named_with_the_one_meant(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="unknown setting 'CORDON_TOPK' in the environment") as caught:
        load(tmp_path, {"CORDON_TOPK": "3"})
    assert "CORDON_TOP_K" in caught.value.hint
    (tmp_path / "cordon.toml").write_text("modle = 'x'\n")
    with pytest.raises(BadSettings, match=r"unknown setting 'modle' in cordon\.toml"):
        load(tmp_path, {})


@pytest.mark.parametrize("text", ["top_k = \n", "\x00", "[model\n"])
def test_a_broken_file_is_said_to_be_broken(tmp_path: Path, text: str) -> None:
    (tmp_path / "cordon.toml").write_text(text)
    with pytest.raises(BadSettings, match=r"cordon\.toml"):
        load(tmp_path, {})


def test_a_key_shows_nowhere(tmp_path: Path) -> None:
    settings = load(tmp_path, {"OPENAI_API_KEY": "sk-very-secret"})
    assert "very-secret" not in repr(settings) + str(settings) + settings.model_dump_json()


def test_a_bad_key_is_not_quoted_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "cordon.toml").write_text("openai_api_key = ['sk-very-secret']\n")
    with pytest.raises(BadSettings) as caught:
        load(tmp_path, {})
    assert "very-secret" not in str(caught.value)


def test_settings_are_frozen(tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        load(tmp_path, {}).top_k = 9


@pytest.mark.parametrize("name", ["LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"])
def test_a_leftover_tracing_variable_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, settings_of: Any, name: str
) -> None:
    monkeypatch.setenv(name, "true")
    with pytest.raises(BadSettings, match=name):
        Agent(settings_of())
    monkeypatch.setenv(name, "false")
    Agent(settings_of()).close()


def test_every_setting_has_a_default() -> None:
    assert all(not field.is_required() for field in Settings.model_fields.values())


def test_where_the_evaluations_find_their_data_is_no_setting(tmp_path: Path) -> None:
    assert load(environ={"CORDON_EVAL_DATA": str(tmp_path), "CORDON_TOP_K": "7"}).top_k == 7
