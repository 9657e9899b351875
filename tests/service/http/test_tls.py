"""`cordon serve` with a certificate of its own."""

import re
import ssl
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from evals.serving import keys_of
from tests.support.command import cordon, environment


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "cordon")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    cert, private = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return cert, private


def test_it_answers_over_tls_and_not_in_the_clear(small: Path, tmp_path: Path, pair: tuple[Path, Path]) -> None:
    import shutil

    home = Path(shutil.copytree(small, tmp_path / "home"))
    keys = keys_of(home)
    secret = keys.add("U1", "ann")[1]
    keys.close()
    log = tmp_path / "log"
    settings = {"tls_cert": pair[0], "tls_key": pair[1], "serve_processes": 1}
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "graph.service.cli", "serve", "--port", "0"],
            env=environment(home, **settings),
            cwd=tmp_path,
            stderr=stderr,
        )
    try:
        deadline = time.monotonic() + 60
        while b'"listening"' not in log.read_bytes() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        found = re.search(r"https://\S+", log.read_text())
        assert found, log.read_text()
        with httpx.Client(
            base_url=found[0], verify=ssl.create_default_context(cafile=str(pair[0])), trust_env=False
        ) as client:
            reply = client.get("/v1/documents", headers={"Authorization": f"Bearer {secret}"})
        assert reply.status_code == 200
        with pytest.raises(httpx.HTTPError):
            httpx.get(found[0].replace("https", "http") + "/livez", trust_env=False)
    finally:
        process.terminate()
        assert process.wait(30) == 0


def test_a_key_of_another_certificate_is_told(small: Path, tmp_path: Path, pair: tuple[Path, Path]) -> None:
    done = cordon("serve", "--port", "0", home=small, tls_cert=pair[0], tls_key=pair[0])
    assert done.returncode == 2
    assert "CORDON_TLS_KEY" in done.stderr
    assert "Traceback" not in done.stderr
