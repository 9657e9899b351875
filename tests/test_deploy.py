"""What an operator starts on several machines: Kubernetes manifests and the compose file name only what there is."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from evals.serving import small_home
from graph.service.cli import app
from graph.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
MANIFESTS = sorted((ROOT / "deploy/kubernetes").glob("*.yaml"))
NAMES = {f"CORDON_{name.upper()}" for name in Settings.model_fields} | {"OPENAI_BASE_URL", "OPENAI_API_KEY"}
KUBERNETES = "1.33"


def objects() -> list[dict[str, Any]]:
    return [one for path in MANIFESTS for one in yaml.safe_load_all(path.read_text()) if one]


def named(kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in objects() if one["kind"] == kind}


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for one in objects():
        spec = one.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        if "template" in spec:
            yield one["metadata"]["name"], spec["template"]["spec"]


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.postgres.yaml").read_text())
    return found


def is_a_command(arguments: list[str]) -> bool:
    command: Any = get_command(app)
    for name in arguments:
        if name.startswith("-"):
            options = {option for parameter in command.params for option in parameter.opts}
            return all(one in options for one in arguments if one.startswith("--"))
        if not hasattr(command, "commands"):
            return False
        command = command.commands.get(name)
    return command is not None


def test_kubernetes_takes_the_manifests() -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed (make dev)")
    for one in objects():
        validate.validate(one, KUBERNETES, strict=True)


def test_the_schema_refuses_what_is_wrong() -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed (make dev)")
    wrong = named("Deployment")["cordon"]
    wrong["spec"]["replica"] = wrong["spec"].pop("replicas")
    with pytest.raises(validate.ValidationError):
        validate.validate(wrong, KUBERNETES, strict=True)


def test_everything_that_several_machines_need_is_there() -> None:
    assert {one["kind"] for one in objects()} >= {
        "Deployment", "Service", "Secret", "Job", "PodDisruptionBudget", "Ingress", "CronJob",
    }  # fmt: skip
    deployment = named("Deployment")["cordon"]["spec"]
    assert deployment["replicas"] > named("PodDisruptionBudget")["cordon"]["spec"]["minAvailable"] >= 1
    labels = deployment["template"]["metadata"]["labels"]
    for chosen in (
        deployment["selector"]["matchLabels"],
        named("Service")["cordon"]["spec"]["selector"],
        named("PodDisruptionBudget")["cordon"]["spec"]["selector"]["matchLabels"],
    ):
        assert chosen.items() <= labels.items()
    for name, pod in pods():  # neither the migration nor the backup answers questions
        assert ("worker" in name) or name == "cordon" or pod["restartPolicy"] == "Never"


def test_every_container_runs_as_a_user_without_rights() -> None:
    for name, pod in pods():
        assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"], name
        for one in pod["containers"]:
            context = one["securityContext"]
            assert context["readOnlyRootFilesystem"] and not context["allowPrivilegeEscalation"], name
            assert context["capabilities"] == {"drop": ["ALL"]} and "memory" in one["resources"]["limits"], name


def test_the_workers_never_get_the_owners_password() -> None:
    for name, pod in pods():
        told = {env["name"] for one in pod["containers"] for env in one["env"]}
        assert ("CORDON_DATABASE_OWNER_URL" in told) == (name != "cordon"), name
    for name, service in compose()["services"].items():
        told = service.get("environment", {})
        assert ("CORDON_DATABASE_OWNER_URL" in told) == (name in ("migrate", "backup")), name


def test_settings_commands_and_secrets_are_there() -> None:
    secrets = {name: one["stringData"] for name, one in named("Secret").items()}
    for name, pod in pods():
        for one in pod["containers"]:
            for env in one["env"]:
                assert env["name"] in NAMES, (name, env["name"])
                if reference := env.get("valueFrom", {}).get("secretKeyRef"):
                    assert reference["key"] in secrets[reference["name"]]
            if one["image"].startswith("cordon"):
                assert is_a_command(one["args"]), one["args"]
            mounted = {volume["name"] for volume in one["volumeMounts"]}
            assert mounted == {volume["name"] for volume in pod["volumes"]}
    services = compose()["services"]
    for name, service in services.items():
        if service["image"].startswith("cordon"):
            assert service.get("environment", {}).keys() <= NAMES, name
            assert is_a_command(service.get("command", ["serve"])), name
        assert set(service.get("depends_on", [])) <= services.keys()
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (ROOT / source).exists() if source.startswith("./") else source in compose()["volumes"]
    assert not is_a_command(["keys", "ad"]) and not is_a_command(["serve", "--prot", "1"])


def test_probes_ask_what_the_service_answers(tmp_path: Path) -> None:
    from graph.agent import Agent
    from graph.deps import Deps
    from graph.service.http.app import create_app
    from graph.settings import load

    settings = load(environ={}, home=small_home(tmp_path), out=tmp_path / "out", artifacts=False)
    inner = create_app(Agent(deps=Deps(settings, serves=True)))[1]
    paths = set(inner.openapi()["paths"])
    inner.state.service.close()
    worker = next(pod for name, pod in pods() if name == "cordon")["containers"][0]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert worker[probe]["httpGet"]["path"] in paths
    proxy = (ROOT / "deploy/compose/Caddyfile").read_text()
    assert set(re.findall(r"health_uri (\S+)", proxy)) <= paths
    for address in re.findall(r"(\w+):8000", proxy):
        assert address in compose()["services"]


def test_the_proxy_waits_longer_than_a_question_may_take_and_sends_no_post_twice() -> None:
    proxy = (ROOT / "deploy/compose/Caddyfile").read_text()
    [waits] = re.findall(r"response_header_timeout (\d+)s", proxy)
    assert int(waits) > Settings().request_s
    assert "lb_try_duration" in proxy and "lb_retry_match" not in proxy  # that would be asked for
    [idle] = re.findall(r"keepalive (\d+)s", proxy)
    assert int(idle) < 30  # uvicorn's timeout_keep_alive: a worker never closes what the proxy sends on


def test_who_stops_has_time_to_end_its_questions() -> None:
    from graph.service.http.server import DRAIN_S

    needed = Settings().request_s + DRAIN_S
    deployment = named("Deployment")["cordon"]["spec"]["template"]["spec"]
    paused = deployment["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert deployment["terminationGracePeriodSeconds"] >= needed + paused
    for name in ("worker1", "worker2"):
        assert int(compose()["services"][name]["stop_grace_period"].removesuffix("s")) >= needed
