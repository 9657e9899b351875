"""For each kind what must be masked, whole, and what must stay: one digit away, or harmless and of the same shape."""

import pytest

from graph.policy.pii import RULES, find, mask

# «» marks what must be found, with exactly these borders; a row without it must be left alone.
ROWS = {
    "CNIC": [
        "https://help.example.org/articles/3520212345671-Start", "lot no. 3520212345671", "Model 3520212345671",
        "Purchase order: 3520212345671", "Product code 6110112345671","invoice «35202-1234567-1»",
        "https://example.org/?cnic=«3520212345671»", "CNIC «35202-1234567-1».", "«42101 1234567 9» was on file", "«35202.1234567.1»", "«35202–1234567–1»",
        "«35202\u20111234567\u20111»", "«٣٥٢٠٢-١٢٣٤٥٦٧-١»", "«۳۵۲۰۲۱۲۳۴۵۶۷۱»", "«３５２０２-１２３４５６７-１»",
        "id «3520212345671»", "«3 5 2 0 2 1 2 3 4 5 6 7 1»", "«3\u200b5202-1234567-1»", "💳é «35202 - 1234567 - 1» 💳",
        "CNIC: «1760310023151»", "شناختی کارڈ «1760310023151»", "«17301-1234567-1»", "«87236-5667265-0»",
        "«61101-\n1234567-1»", "«1730112345671»", "at 1760310023151 ms", "ISBN 9783161484100", "35202-123456-1",
        "35202-12345678-1", "9783161484100", "5000000000000 rupees", "EAN 4006381333931", "{\"ts\": 1735689600123}",
        "12.3520212345671", "3520212345671.5",
    ],
    "PHONE": [
        "Order no. 03001234567", "Model 03451234567", "PO 03211234567", "Lot 03151234567 was recalled.",
        "Serial number is 03331234567", "Model no. 021-34567890", "Order no. «0300-1234567»", "To order «03001234567»",
        "My account no is «03001234567»", "The PO is 03211234567, the phone «03001234567».",
        "The log is called 2024117.", "A folder called 5551234 is full.", "The room called 030012 is closed.",
        "She called «5551234».", "The customer called «2125551234».", "He is called «0300 1234567».",
        "Phone 116117", "Hotline: 116 123", "Call 118118.", "Phone 116 000 or «0300-1234567»", "Phone «614117»",
        "an archive called 5550123.tar", "called 5550123.csv and more", "https://blog.example.org/office2010/2009/12/08/x",
        "office «021 3456 7890»", "«+92 300 1234567»", "«0300-1234567»", "«00923001234567»", "«+92-300-1234567»", "«92 300 1234567»",
        "«0300 123 4567»", "«(0300) 1234567»", "«+92 (0)300 1234567»", "«0300.1234567»", "«0300/1234567»",
        "«0300\u20111234567»", "«٠٣٠٠١٢٣٤٥٦٧»", "«۰۳۰۰-۱۲۳۴۵۶۷»", "«०३००१२३४५६७»", "«０３００ １２３４５６７»",
        "«0\u200b3\u200b0\u200b0\u200b1\u200b2\u200b3\u200b4\u200b5\u200b6\u200b7»", "«0 3 0 0 1 2 3 4 5 6 7»",
        "«923001234567»", "«+923001234567»", "«0092-300-1234567»", "Mob«0300-1234567»", "«021-34567890»",
        "«(042) 35761234»", "«+92 51 9201234»", "🎉«03001234567»🎉", "«+44 20 7946 0958» 12 March",
        "«+1 (212) 555-2368»", "«+33 1 42 68 53 00»", "«0044 20 7946 0958»", "«(212) 555-2368»", "«212-555-2368»",
        "call «555 2368» now", "Fax: «9498777106»", "«020 7946 0958» «020 7946 0959»", "«+971 50 123 4567»",
        "«00919876543210»", "«03 00 12 34 56 7»", "فون «300 1234567»", "Tel. «030 123456»", "0300-12345",
        "1,234,567,890", "2025-10-12 23:00:23", "03/10/2025 105 items", "10.1000/182", "doi 10.1109/5.771073",
        "ISBN 0-306-40615-2", "v2.10.3456789", "51.50735, -0.12776", "PKR 300 1234567.00", "Article 33(1)", "call 999",
        "SU 123 456", "order 12345678", "1-2-3-4-5-6-7-8-9-10", "phone call on 2024-05-06",
        "contact us before 12.05.2024", "1760310023151", "0000-0002-1825-0097", "0.30012345678", "300 1234567 tonnes",
    ],
    "EMAIL": [
        "git clone https://me@code.example.org/x.git", "see https://«example.org/to/ali@example.org»",
        "«ali.khan+x@example.co.uk»", "mail «a@b.io».", "«ali at example dot org»", "«ali [at] example [dot] org»",
        "«ali(at)example.org»", "«john dot smith at gmail dot com»", "«ali＠example．org»", "<«ali@example.org»>",
        "«пётр@пример.рф»", "mailto:«x_y@z.com»", "«a\u200bli@example.org»", "available at example.com", "@handle",
        "a @ b", "user@localhost", "look at the dot on the map", "f(x)@0x3f", "x@y", "3 pears @ 2.50",
    ],
    "CARD": [
        "https://help.example.org/sections/4111111111111111-Start", "«4111 1111 1111 1111» 12/27 cvv 123", "«4111111111111111»", "«5500-0055-5555-5559»", "«3782 822463 10005»",
        "«378282246310005»", "«6011 0009 9013 9424»", "«４１１１ １１１１ １１１１ １１１１»",
        "«4111\u00a01111\u00a01111\u00a01111»",
        "card «30569309025904»", "«4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1»", "«2221 0000 0000 0009»",
        "my card «630427373398»", "«4111.1111.1111.1111»", "item 2024 «4111 1111 1111 1111»", "4111 1111 1111 1112",
        "4111111111111112", "5500-0055-5555-5558", "1234 5678 9012 3456", "0000 0000 0000 0000", "1760310023151123",
    ],
    "IBAN": [
        "«GB82 WEST 1234 5698 7654 32» to other", "«DE89370400440532013000»", "«pk36scbl0000001123456702»",
        "«FR14 2004 1010 0505 0001 3M02 606»", "«GB82-WEST-1234-5698-7654-32»", "GB82 WEST 1234 5698 7654 33",
        "DE89370400440532013001", "GB82WEST", "XX89370400440532013000",
    ],
    "BANK_ACCOUNT": [
        "account number: «12345678901»", "A/C no. «0123-4567-8901»", "on account of 12345 cases", "the account 2024",
    ],
    "IP": [
        "from «192.168.1.10»", "«2a00:1450:4001::8a»", "your IP: «fe80::1ff:fe23:4567:890a»", "ping «8.8.8.8»",
        "the user had «10.0.200.7»/24", "login from «192[.]168[.]1[.]10»", "ping 192.168.7.1", "the switch is 10.0.200.7",
        "2001:db8::1", "from 203.0.113.9", "allow 172.16.0.0/12 to connect", "version 10.0.200.7", "v1.2.3.4", "section 1.2.3.4", "1.2.3.4.5", "127.0.0.1",
        "192.168.1.256", "10:30:45", "std::vector", "1.3.6.1.4.1",
    ],
    "MAC": [
        "«00:1B:44:11:3A:B7»", "«00-1b-44-11-3a-b7»", "00:1B:44:11:3A", "12-34-56-78-90-12", "00:1B:44:11:3A:G7",
    ],
    "URL_CREDENTIALS": [
        "https://«user:pa55»@host.org/x", "postgres://«app:s3cret»@db/x", "https://host.org/a:b",
        "http://host:8080/@x",
    ],
    "PASSPORT": [
        "passport no. «AB1234567»", "Passport: «C01X00T47»", "پاسپورٹ «AB1234567»",
        "«L898902C36UTO7408122F1204159ZE184226B<<<<<10»", "passport to success",
        "L898902C37UTO7408122F1204159ZE184226B<<<<<10", "AB1234567 parts", "passports issued in 2024",
    ],
    "DRIVER_LICENCE": [
        "driver's license number is «2270-66-1551»", "driving licence: «F1628235»",
        "a driving licence is required in 2024",
    ],
    "US_SSN": [
        "SSN «123-45-6789»", "«219-09-9999»", "social security «219099999»", "ssn «219 09 9999»", "000-12-3456",
        "666-12-3456", "123-00-4567", "123-45-0000", "923-45-6789", "219099999", "123-456-789", "1123-45-6789",
    ],
    "UK_NHS": [
        "NHS «943 476 5919»", "NHS number: «9434765919»", "«943 476 5919»", "943 476 5918", "9434765919",
        "NHS 943 476 5910",
    ],
    "UK_NINO": [
        "«AB123456C»", "«AB 12 34 56 C»", "national insurance «ab123456c»", "BG123456C", "AB123456E", "AB12345C",
        "TQ 123 456", "DA123456C1",
    ],
    "EU_NATIONAL_ID": [
        "BSN «111222333»", "PESEL: «44051401359»", "DNI «54362315K»", "NIE «X2482300W»",
        "codice fiscale «RCCMNL83S18D969H»", "«RCCMNL83S18D969H»", "Steuer-ID «36 574 261 809»",
        "personnummer «880320-0016»", "HETU «131052-308T»", "AHV «756.9217.0769.85»", "TCKN «17291716060»",
        "registre national «85073003328»", "NIR «2 95 10 99 126 111 93»", "BSN 111222334", "44051401359",
        "PESEL: 44051401358", "DNI 54362315L", "RCCMNL83S18D969I", "AHV 756.9217.0769.86", "54362315K",
    ],
    "AADHAAR": [
        "«2345 6789 0124»", "aadhaar «234567890124»", "«2345-6789-0124»", "2345 6789 0125", "234567890124",
        "1345 6789 0124",
    ],
    "INDIA_PAN": [
        "PAN «ABCPE1234F»", "«ABCPE1234F»", "pan card «abcpe1234f»", "ABCDE1234F",
        "ABCPE12345", "abcpe1234f",
    ],
    "IMEI": [
        "IMEI «490154203237518»", "IMEI 490154203237519", "490154203237518",
    ],
    "CRYPTO_WALLET": [
        "«1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa»", "«0x52908400098527886E0F7030069857D2E4169EE7»",
        "«bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4»", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", "0x5290",
    ],
    "BIRTH_DATE": [
        "born on «12 March 1990»", "DOB: «01/02/1990»", "date of birth is «1990-02-01»", "Born: «March 12, 1990»",
        "تاریخ پیدائش: «۱۲-۰۳-۱۹۹۰»", "adopted on 27 April 2016", "on 12 March 1990", "born in 1990",
    ],
    "ADDRESS": [
        "Address: «House 12, Street 4, F-7/2, Islamabad»", "Home address: «221B Baker Street, London NW1 6XE»\nnext",
        "پتہ: «مکان 12، گلی 4، لاہور»", "Address: see Article 13", "we address: 3 points",
        "addresses the risk in 3 ways", "House 12 stands on Street 4",
    ],
    "PERSON": [
        "Name: «Ayesha Khan»", "Contact: «Dr Ali Raza», Lahore", "نام: «عائشہ خان»",
        "Father's Name: «Muhammad Aslam»\nCNIC", "Full name: «José García»", "Contact: Data Protection Officer",
        "File name: Report Final", "Name: required", "Product name: Blue Widget", "Ayesha Khan wrote it",
        "Contact: Support", "Vessel name: Northern Light", "Pathway name: Citric Acid Cycle; Genes: 30",
        "Vessel name: «Maria Lopez»", "Supervisor name: «Northern Light»", "Emergency contact name: «Northern Light»",
        "Name: Setting up the server", "Name: Report Final; Size: 4 MB", "Code: CS101; Name: Linear Algebra; Credits: 4",
        "Level: 2; Name: Collaboration; What students may do: drafts", "Name: Apache License 2.0; Type: permissive",
        "Name: CoolKey; Operating system: Linux", "Stakeholder name: General Counsel; Task: legal advice",
        "Name: Welcome Pack; Version: 3", "- name: Install NPM dependencies", "Account Name: Sourcegraph, Inc.",
        "View name: New Items; Purpose: new issues", "Name: GPU Cluster; Owner: physics", "Name: Security",
        "Name: «Ayesha Khan»; Grade: A", "Name: «Walter»; Height: 6'4; Age: 34", "Name: «Ali Raza»; Type: x; Phone: 1",
        "Student name: «Ali Raza»; Type: full-time", "Role: Lead; Name: «Sana Tariq»; E-mail: s",
        "Name: Dover ADC; Callsign: Dover Tower\nName: Dover ATIS; Frequency: 118.1",
        "Name: «Khan Ayesha»; Deputy: Khan Imran", "Name: «Anna Berg»; Room: Anna Hall",
        "Size: 4\nName: «Walter»", "Name: «Ayesha Khan» is the applicant",
    ],
    "API_KEY": [
        "«sk-abcdefghijklmnopqrstuv12»", "«AKIAIOSFODNN7EXAMPLE»", "«ghp_abcdefghijklmnopqrstuvwxyz0123456789»",
        "«xoxb-123456789012-abcdefABCDEF»", "«AIzaSyA1234567890abcdefghijklmnopqrstuv»", "sk-learn", "AKIA",
        "risk-assessment-and-management", "task-based-evaluation-framework",
    ],
    "SECRET": [
        "- $PWD:/usr/src/app", 'export ADMIN_PASSWORD="$(cat file)"', "password=«hunter2»", "password: «Tr0ub4dor&3»", 'api_key = "«9f8e7d6c5b4a39281706»"',
        "secret token: «q8Zr3mXv9LkT2pWs»", "PASSWORD=«letmein»", "password: must be long", "the password is required",
        "token: string", "password=${DB_PASSWORD}", "the key is understanding", "secret: ********",
    ],
    "TOKEN": [
        "Authorization: Bearer «abcdefghij0123456789»",
        "«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N»", "the bearer of the certificate",
        "bearer instruments", "eyJ is a prefix",
    ],
    "PRIVATE_KEY": [
        "«-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAK\n-----END RSA PRIVATE KEY-----» ok",
        "«-----BEGIN PRIVATE KEY-----\nMIIBOgIBAAJBAK»", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        ("«PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPublic-Lines: 1\nAAAAB3NzaC1yc2EAAAA\n"
        "Private-Lines: 2\nAAAAgQC2Dd0T9fWgbk\nAb3d\nPrivate-MAC: 0a1b»\n\nok then"),
        "keep the private key safe",
        "a line «-----BEGIN PRIVATE KEY-----» opens the block",
    ],
    "ID_NUMBER": [
        "Student no. «s1234567» missed the viva.",
        "Her student number, «20198877», is on the list.",
        "Employee ID: «E-104233»",
        "Emp. No. «99-8120»",
        "National ID number «7705 1234 567»",
        "The citizen's national identity number is «19870412-9931».",
        "Please quote case number «2023/00417» in every letter.",
        "Case ref. «HR-2024-118»",
        "Payroll number «P004417» was paid twice.",
        "Matrikelnummer «3012345»",
        "Número de empleado: «448120»",
        "Aktenzeichen: «12/4471-B»",
        "Series number 20231123",
        "Order no. 4471902 was shipped.",
        "Batch number LOT-44719",
        "Model no. AB12345",
        "Case numbers rose to 45120 in May.",
        "Invoice number 2023-00417",
        "Part no. E-104233",
        "In case 20231 tests fail",
        "The staff number of 2024 was higher.",
        "Serial number: 8812345",
        "Employee number 12 of 4000",
        "In each case no more than 15000 units are sold.",
    ],
}  # fmt: skip
CASES = [(kind, row) for kind, rows in ROWS.items() for row in rows]


def test_every_rule_has_its_table() -> None:
    assert {rule.type for rule in RULES} == set(ROWS)
    assert all(any("«" in row for row in rows) and any("«" not in row for row in rows) for rows in ROWS.values())


@pytest.mark.parametrize(("kind", "row"), [case for case in CASES if "«" in case[1]])
def test_found_whole_and_nothing_else(kind: str, row: str) -> None:
    text = row.replace("«", "").replace("»", "")
    found = [(text[span.start : span.end], span.type) for span in find(text)]
    assert found == [(piece.split("»")[0], kind) for piece in row.split("«")[1:]]
    assert mask(text, typed=True).text.count(f"[REDACTED:{kind}]") == row.count("«")


@pytest.mark.parametrize(("kind", "row"), [case for case in CASES if "«" not in case[1]])
def test_left_alone(kind: str, row: str) -> None:
    assert [span.type for span in find(row)] == []
