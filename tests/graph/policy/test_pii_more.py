"""`CORDON_MASK=more`: ids beside their word, names and streets in prose. The marked sentences were written before the
patterns; with the basic rules, which know numbers of persons, 13 of their 42 values are masked."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.policy import pii
from tests.support.command import cordon

SENTENCES = """\
Student ID: «20231123»
The student with matriculation number «3012345» failed twice.
Matrikelnummer «3012345»
Employee ID «E-104233» was locked out.
Staff no. «78812» reported the leak.
Patient ID: «PT-0093412»
Her customer number is «4471902».
Please quote case number «2023/00417» in every letter.
Account number «12345678»
Roll No: «BSCS-19-044»
Passport No. «AB1234567»
His passport number is «C01X00T47».
Licence plate «LEA-4821»
The car with registration number «AB12 CDE» blocked the gate.
Kennzeichen «M-AB 1234»
Personnel number «00451234»
The patient (MRN «8812345») was moved to ward 4.
Membership number «M-55120»
Enrolment number «2019-EE-117»
Student no. «s1234567» missed the viva.
«Dr. Anna Weber» chairs the panel.
We thank «Ms Khan» for the samples.
The report was written by «Prof. Imran Siddiqui».
«Mr. John O'Neill» opened the door.
«Mrs Farah Naz» and «Mr Tariq Mehmood» signed it.
Ask «Professor Chen» for the key.
The complaint of «Herr Müller» was upheld.
«Frau Dr. Sabine Vogel» is on leave.
Mail it to «Sir Alan Whitcombe».
«Ayesha Khan» wrote the protocol.
The samples were taken by «Muhammad Bilal» on Monday.
She lives at «12 Rose Street», Leeds.
The parcel went to «221B Baker Street».
He moved to «4 Privet Drive» last year.
Deliver to «House 14, Street 7, F-8/3», Islamabad.
The flat at «Hauptstraße 12», Berlin was searched.
The office at «350 Fifth Avenue» is closed.
Send it to «PO Box 1290», Lahore.
Her home is «17 rue de la Paix», Paris.
Contact «Dr Sana Iqbal» about «15 Park Lane».
""".splitlines()
# Written when the patterns were done; 19 of the 26 values were masked whole. The patterns were widened with them in view.
AFTERWARDS = """\
Her student number, «20198877», is on the list.
Student number «11-4402»
Emp. ID «99812»
Patient no. «4471-22»
Case ref. «HR-2024-118»
Client ID #«88231»
Your customer no. is «C-553201».
Account no. «0012345678»
Matr.-Nr. «3311220»
Passport: «533380006»
Number plate «KA-01-HH-1234»
Vehicle registration: «LX19 OPQ»
Staff ID is «HS2231».
«Dr. Ngozi Okafor» saw the patient.
«Ms. Leila Haddad» called twice.
«Mr Tan Wei Ming» left at noon.
«Professor Emerita Judith Klein» spoke.
«Fatima Zahra» won the prize.
«Sven Lindqvist» sent the file.
The form was signed by «Robert Nowak».
He lives at «7 Elm Grove», Bath.
They met at «1600 Pennsylvania Avenue».
She moved to «Lindenweg 4a», Kassel.
Deliver to «House 3, Street 22», Lahore.
The shop at «18 High Street» burned.
Post it to «P.O. Box 771», Nairobi.
""".splitlines()
NOTHING = """\
Students of the Victoria University hall
Case number of the day
The account number is missing
Student ID cards are blue
employee number 12 of 40
The patient number rose from 1200 to 1500.
Customer ID: required
Dr. Who
George Washington University
Mark Twain award
Read 12 Rules on the Road
the 2030 Road Map
Ms Excel is used
Mr. and Mrs. are titles.
The Prof will see you.
Case No. 12
student id in 2023
Enrolment number 2024
Account number 1,204 was typed
Roll no later than 2023-01-01
Mark Down the text
John Deere tractors
Paul Street station
Application number format: two letters
licence plate holders cost 20 EUR
member id must be 8 characters
In Case 20231 tests fail
Kennzeichen sind Pflicht
Frau und Mann
Martin Luther King Day
St Mary Hall
""".splitlines()


@pytest.fixture
def more() -> Iterator[None]:
    pii.use("more")
    yield
    pii.use("basic")


def _masked(marked: str) -> tuple[str, int, int]:
    """The sentence, how many values it has, and how many of them are wholly masked."""
    text, found = marked.replace("«", "").replace("»", ""), 0
    values = [part.split("»")[0] for part in marked.split("«")[1:]]
    for value in values:
        at = text.index(value)
        found += any(span.start <= at and at + len(value) <= span.end for span in pii.find(text))
    return text, len(values), found


@pytest.mark.parametrize("marked", SENTENCES)
def test_ids_names_and_streets_are_masked(marked: str, more: None) -> None:
    _, values, found = _masked(marked)
    assert found == values > 0


def test_sentences_written_afterwards(more: None) -> None:
    counts = [_masked(marked) for marked in AFTERWARDS]
    assert (sum(found for *_, found in counts), sum(values for _, values, _ in counts)) == (24, 26)


def test_the_basic_rules_leave_them() -> None:
    counts = [_masked(marked) for marked in SENTENCES]
    assert (sum(found for *_, found in counts), sum(values for _, values, _ in counts)) == (13, 42)


@pytest.mark.parametrize("text", NOTHING)
def test_what_only_looks_so_is_left(text: str, more: None) -> None:
    assert pii.mask(text).text == text


def test_a_word_beside_is_needed(more: None) -> None:
    assert pii.mask("20231123 and AB12 CDE, 3012345, PT-0093412").spans == ()


def test_the_setting_reaches_the_filter(tmp_path: Path) -> None:
    line = '{"id": 1, "text": "Customer ID: 20231123"}' + os.linesep
    assert "20231123" in cordon("mask", home=tmp_path, stdin=line).stdout
    assert "20231123" not in cordon("mask", home=tmp_path, stdin=line, mask="more").stdout
