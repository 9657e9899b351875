"""Write the PDF, DOCX and XLSX documents of the example corpus.

The text of these files lives here, as plain Python data, so that it can be read and reviewed like the Markdown
ones. Run it from anywhere: `python corpus/make_binary.py`. Dates in the files' metadata are fixed, so the same
library versions give the same bytes each time.

Blocks are tuples: ("h", heading), ("p", paragraph), ("l", [items]), ("t", [rows, the first is the header]).
"""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

from docx import Document
from openpyxl import Workbook
from openpyxl.styles import Font
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.units import cm
from reportlab.platypus import ListFlowable, PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

HERE = Path(__file__).resolve().parent
STAMP = dt.datetime(2026, 6, 1, 8, 0, 0)
AUTHOR = "Indus Research Institute"
Block = tuple[str, object]

# --------------------------------------------------------------------------------------------------------------
# PDF documents; ("page", None) starts a new page.
# --------------------------------------------------------------------------------------------------------------
PDFS: dict[str, tuple[str, list[Block]]] = {
    "U4/report_perovskite_ageing.pdf": (
        "Report: ageing of sealed perovskite cells under heat and light",
        [
            (
                "p",
                (
                    "Materials laboratory, internal report MAT-R-2026-03, 27 April 2026. Authors: Arooj Nisar Khichi "
                    "and Dr Paulo Benavides. Reviewed by Dr Zubair Hashmi Gilani on 24 April 2026."
                ),
            ),
            ("h", "Summary"),
            (
                "p",
                (
                    "We aged 288 cells for up to 2,000 hours to learn whether the new edge seal makes small perovskite "
                    "cells last long enough for a pilot module. Under light at 65 °C, sealed cells reached a median "
                    "T80 of 1,340 hours, compared with 520 hours for cells with epoxy only. The goal for the pilot is "
                    "2,500 hours. The seal is therefore a clear improvement, but is not sufficient on its own."
                ),
            ),
            ("h", "Samples"),
            (
                "p",
                (
                    "The cells came from batches 88 to 93, made between 6 October and 12 December 2025. Half of them "
                    "carried the edge seal. Every batch supplied the same number of sealed and unsealed cells, so that "
                    "a good or bad batch would not favour one side. Six cells broke while they were being wired and "
                    "were replaced before the start."
                ),
            ),
            ("h", "Conditions"),
            (
                "t",
                [
                    ["Group", "Light", "Temperature", "Cells"],
                    ["A", "none", "85 °C", "96"],
                    ["B", "one sun", "45 °C", "72"],
                    ["C", "one sun", "65 °C", "96"],
                    ["D", "one sun, 12 h cycles", "65 °C", "24"],
                ],
            ),
            (
                "p",
                (
                    "Light came from white diodes that were checked every Monday with a reference cell. The largest "
                    "correction was 2.4 %. Cells were held at the maximum power point, and a full curve was recorded "
                    "every six hours. Relative humidity in the cabinet stayed between 38 % and 46 %."
                ),
            ),
            ("page", None),
            ("h", "Results under heat in the dark"),
            (
                "p",
                (
                    "After 1,000 hours at 85 °C, sealed cells kept 92 % of their first stable efficiency and unsealed "
                    "cells 58 %. Loss in unsealed cells begins at the edges: photographs in infrared light show a dark "
                    "rim that grows by about 0.7 mm in 500 hours. No rim was visible in sealed cells."
                ),
            ),
            ("h", "Results under light"),
            (
                "p",
                (
                    "Group B hardly changed: both kinds stayed above 94 % for 2,000 hours. In group C the sealed cells "
                    "lost 10 % in the first 150 hours and then declined slowly. The early loss recovers by half during "
                    "a night in the dark, and so group D, with its cycles, looked better than group C: a median T80 of "
                    "1,710 hours."
                ),
            ),
            (
                "t",
                [
                    ["Group", "T80 sealed (h)", "T80 unsealed (h)"],
                    ["A", "over 2,000", "640"],
                    ["B", "over 2,000", "over 2,000"],
                    ["C", "1,340", "520"],
                    ["D", "1,710", "590"],
                ],
            ),
            ("h", "Failures"),
            (
                "p",
                (
                    "Eleven cells failed suddenly. In nine of them the contact finger had come off; the silver paste "
                    "of lot 7 was brittle. The other two had a pinhole. Sudden failures were left out of the medians "
                    "and are listed in the annex of the laboratory copy."
                ),
            ),
            ("h", "What to do next"),
            (
                "l",
                [
                    (
                        "Replace the silver paste before any new series; Shahmeer Leghari tests two alternatives by "
                        "29 May 2026."
                    ),
                    "Study the early loss under light with ten compositions, starting on 15 June 2026.",
                    "Measure 24 sealed cells at the partner institute in Freiburg.",
                    "Decide on the pilot module at the group meeting of 3 September 2026.",
                ],
            ),
            ("h", "Cost"),
            (
                "p",
                (
                    "The series used 4,900 kWh of electricity, or roughly PKR 230,000, and 31 working days of staff. "
                    "The light cabinet is booked until the end of July, and a second one would cost PKR 3,900,000."
                ),
            ),
        ],
    ),
    "public/laser_safety.pdf": (
        "Laser safety manual",
        [
            (
                "p",
                (
                    "Safety Office, Indus Research Institute. Third edition, 2 March 2026. This manual applies to all "
                    "lasers of class 3R and above. The Laser Safety Officer is Dr Waleed Kansi, room C-011, "
                    "extension 2450."
                ),
            ),
            ("h", "1. Classes in one paragraph"),
            (
                "p",
                (
                    "Class 1 is safe in normal use. Class 2 is visible and protected by the blink reflex, up to 1 mW. "
                    "Class 3R is dangerous for the eye in rare cases, up to 5 mW. Class 3B is dangerous for the eye "
                    "when the direct beam enters it, up to 500 mW. Class 4 is dangerous for eyes and skin, even "
                    "through diffuse reflections, and can start a fire."
                ),
            ),
            ("h", "2. Registration and people"),
            (
                "p",
                (
                    "A class 3B or class 4 laser is registered with the Laser Safety Officer before it is unpacked. "
                    "Users complete a course of two and a half hours and pass an eye examination before their first "
                    "day. The examination is repeated only after an accident. The list of authorised users hangs on "
                    "the door, and is renewed every 12 months."
                ),
            ),
            ("h", "3. The room"),
            (
                "l",
                [
                    "A door interlock or a baffle keeps the beam inside.",
                    "A lamp with the word LASER is lit whenever emission is possible.",
                    "Windows are covered with blinds that withstand the beam for at least 100 seconds.",
                    "Beams run below or above eye level, never between 110 cm and 180 cm from the floor.",
                    "Beam dumps are made of metal and fixed with screws, not with tape.",
                ],
            ),
            ("h", "4. Eyewear"),
            (
                "p",
                (
                    "Goggles are chosen for wavelength and power; the optical density stands on the frame. In most of "
                    "our laboratories an optical density of 6 at the working wavelength is enough. Goggles with "
                    "scratches are discarded. Two pairs for visitors hang at each class 4 room. No goggles protect "
                    "against looking into the beam on purpose."
                ),
            ),
            ("page", None),
            ("h", "5. Alignment"),
            (
                "p",
                (
                    "Two out of three eye injuries happen during alignment. Use the lowest power at which the beam can "
                    "be seen on a card, at most 1 mW when the laser allows it. Take off watches and rings. Remove "
                    "tools that reflect. Nobody who is not needed stays in the room. Alignment of class 4 lasers is "
                    "always done by two people, one of whom has at least six months of experience."
                ),
            ),
            ("h", "6. Invisible and ultrashort beams"),
            (
                "p",
                (
                    "Infrared beams give no warning. Use a viewer or a phosphor card, and block the beam first when "
                    "you lose it. Ultrashort pulses damage goggles faster than the label suggests, so their goggles "
                    "are replaced every three years."
                ),
            ),
            ("h", "7. Other hazards"),
            (
                "t",
                [
                    ["Hazard", "Source", "Measure"],
                    ["High voltage", "power supplies, flash lamps", "discharge for 5 minutes, two people"],
                    ["Fumes", "cutting of plastics", "extraction of 400 cubic metres an hour"],
                    ["Dyes and solvents", "dye lasers", "gloves and fume hood"],
                    ["Fire", "class 4 beams", "no paper within 1 m of the beam"],
                ],
            ),
            ("p", "PVC is never cut with a laser, because it releases hydrogen chloride."),
            ("h", "8. After an accident"),
            (
                "p",
                (
                    "Switch off the laser and leave everything as it is. A person with a suspected eye injury is "
                    "driven to the eye hospital within 60 minutes, sitting upright and with both eyes covered. The "
                    "Laser Safety Officer is informed on the same day, and the laser stays off until the officer "
                    "releases it in writing."
                ),
            ),
            ("h", "9. Inspection"),
            (
                "p",
                (
                    "Class 4 installations are inspected every six months, and the others once a year. In 2025 there "
                    "were 37 registered lasers of class 3B and 21 of class 4. The most common finding was an "
                    "interlock that had been bypassed, in five rooms."
                ),
            ),
        ],
    ),
    "public/course_outline_llm_security.pdf": (
        "Course outline: LLM Security and Governance",
        [
            (
                "p",
                (
                    "Postgraduate unit CS-6413, 10 credits, autumn semester 2026. Unit coordinator: Dr Sadaf Nizamani. "
                    "Teaching assistant: Hira Mengal-Brandt. Lectures on Tuesdays from 14:00 to 16:00 in B-115, "
                    "laboratory on Fridays from 09:00 to 11:00 in B-120. The unit is limited to 45 students."
                ),
            ),
            ("h", "Description"),
            (
                "p",
                (
                    "The unit treats language models as parts of larger systems that have to be secured, measured and "
                    "governed. Students learn how such systems are attacked, how defences are layered, and how "
                    "responsibility is organised in institutions. Programming in Python and an introduction to machine "
                    "learning are required; a course in computer security is useful."
                ),
            ),
            ("h", "Learning outcomes"),
            (
                "l",
                [
                    (
                        "LO1: explain how the threat picture of systems with language models differs from that of "
                        "classical software."
                    ),
                    "LO2: design and carry out a test of a system against direct and indirect prompt injection.",
                    "LO3: build a retrieval system that respects the permissions of several tenants.",
                    "LO4: measure groundedness, refusal and leakage, and report uncertainty honestly.",
                    "LO5: evaluate policies and controls against a published framework.",
                ],
            ),
            ("h", "Assessment"),
            (
                "t",
                [
                    ["Piece", "Weight", "Due", "AI level", "Outcomes"],
                    ["Threat model of a real system", "15 %", "week 4", "1", "LO1"],
                    ["Red-team report (pairs)", "25 %", "week 8", "3", "LO2"],
                    ["Secure retrieval project", "35 %", "week 13", "2", "LO3, LO4"],
                    ["Oral examination", "25 %", "week 15", "0", "all"],
                ],
            ),
            (
                "p",
                (
                    "To pass the unit, students need 50 % overall and at least 40 % in the oral examination. Late work "
                    "loses 5 points for each working day."
                ),
            ),
            ("page", None),
            ("h", "Weekly plan"),
            (
                "t",
                [
                    ["Week", "Topic", "Laboratory"],
                    ["1", "Introduction; systems and tokens", "set-up"],
                    ["2", "Assets, attackers, threat models", "threat workshop"],
                    ["3", "Direct manipulation and jailbreaks", "probing a model"],
                    ["4", "Indirect prompt injection", "poisoned documents"],
                    ["5", "Leakage: retrieval, memory, caches", "canary tests"],
                    ["6", "Training data, poisoning, model supply chain", "checking model files"],
                    ["7", "Agents, tools and excessive agency", "budget limits"],
                    ["8", "Reading week, report due", "none"],
                    ["9", "Retrieval with permissions", "filters in the index"],
                    ["10", "Groundedness and citation", "claim checking"],
                    ["11", "Measurement and statistics", "intervals"],
                    ["12", "Governance, audit and records", "hash chains"],
                    ["13", "Privacy and personal data", "masking"],
                    ["14", "Guest lectures, revision", "demonstrations"],
                    ["15", "Oral examinations", "none"],
                ],
            ),
            ("h", "Reading"),
            (
                "p",
                (
                    "A reader of 12 papers is handed out in week 1. Students read one paper a week, and bring a "
                    "question of at most 60 words. The questions are not marked."
                ),
            ),
            ("h", "Rules for attacks"),
            (
                "p",
                (
                    "Attacks are carried out only against the systems of the unit, which run in a closed network. "
                    "Attacking any other system, including the institute's assistant, ends participation in the unit. "
                    "Findings that could affect real systems are first reported to the coordinator, and are published "
                    "no earlier than 90 days later."
                ),
            ),
            ("h", "Support"),
            (
                "p",
                (
                    "Office hours are on Wednesdays from 10:00 to 12:00 in B-206. Students with a documented need may "
                    "ask for an alternative to the oral examination until the end of week 3."
                ),
            ),
            ("h", "Changes since last year"),
            (
                "p",
                (
                    "The weight of the project went up from 30 % to 35 %, and the multiple-choice test was removed. In "
                    "the last evaluation, 38 of 41 students took part; the workload was judged as high, at 11 hours a "
                    "week."
                ),
            ),
        ],
    ),
}

# --------------------------------------------------------------------------------------------------------------
# Word documents
# --------------------------------------------------------------------------------------------------------------
DOCXS: dict[str, tuple[str, list[Block]]] = {
    "U1/sop_cryostorage.docx": (
        "SOP: storing and retrieving samples in ultra-low freezers",
        [
            ("p", "Number GEN-SOP-07, version 5, 3 December 2025. Owner: Maryam Lashari, sample custodian."),
            ("h", "Where things are"),
            (
                "p",
                (
                    "There are three ultra-low freezers in room G-118, each with its own purpose. Nothing is stored "
                    "outside the plan, not even overnight."
                ),
            ),
            (
                "t",
                [
                    ["Freezer", "Set point", "Content"],
                    ["FZ-01", "-80 °C", "saliva, RNA eluates, controls"],
                    ["FZ-02", "-80 °C", "out of use for samples since January 2026"],
                    ["FZ-03", "-80 °C", "whole blood and buffy coats of PunjabThal"],
                ],
            ),
            ("h", "Putting samples in"),
            (
                "l",
                [
                    "Scan the tube and the box. A tube without a two-dimensional code is not stored.",
                    "Freeze blood within 6 hours of collection; later samples get the flag LATE.",
                    "Open the door for no more than 60 seconds, then wait 10 minutes.",
                    "Record rack, box and position before leaving the room.",
                ],
            ),
            ("h", "Taking samples out"),
            (
                "p",
                (
                    "Requests are sent to the custodian two working days before. Aliquots are 200 µL, and no "
                    "participant's last aliquot is released without the consent of the principal investigator. A tube "
                    "may be thawed three times at most; the count is kept in the sample register."
                ),
            ),
            ("h", "Power failure"),
            (
                "p",
                (
                    "Keep doors closed. A full freezer stays below -65 °C for about four hours. After three hours, the "
                    "carbon dioxide back-up is opened on FZ-03 first. The generator starts by itself after 12 seconds "
                    "and is tested on the 15th of each month."
                ),
            ),
            ("h", "Inventory"),
            (
                "p",
                (
                    "One rack in each freezer is counted every quarter. The error rate must be under 0.5 %. In the "
                    "count of September 2025 it was 0.3 %, with four tubes in wrong positions."
                ),
            ),
        ],
    ),
    "U2/memo_annotation_vendor.docx": (
        "Memo: contract with the annotation company",
        [
            ("p", "From Sana Mirza Qureshi to Dr Farrukh Baig Lodhi, 10 February 2026."),
            ("h", "Subject"),
            (
                "p",
                (
                    "The in-house annotators cannot finish the 9,000 orders that version 3 needs by summer. Two "
                    "companies were invited to label a trial batch of 100 orders."
                ),
            ),
            (
                "t",
                [
                    ["Company", "F-score on trial", "Price per order (PKR)", "Turnaround"],
                    ["Lafz Data Services", "0.87", "410", "9 days"],
                    ["Qalam Labelling", "0.81", "335", "6 days"],
                ],
            ),
            ("h", "Decision proposed"),
            (
                "p",
                (
                    "Lafz Data Services, for 9,000 orders at a total of PKR 3,690,000. Payment follows in three equal "
                    "parts after 3,000 accepted orders each. A batch below an F-score of 0.80 is redone without charge."
                ),
            ),
            ("h", "Conditions"),
            (
                "l",
                [
                    "Work is done only in our web tool; no files leave the institute.",
                    "The company names its annotators, and each signs the undertaking.",
                    "Anonymisation errors found by the company are rewarded with PKR 2,000 each.",
                    "The contract ends on 31 July 2026, with an option for two months.",
                ],
            ),
            ("h", "Contact and payment details"),
            (
                "p",
                (
                    "The company's director is Mr Nabeel Asghar Warraich, CNIC 35202-5566771-9, mobile "
                    "+92\u00a0300\u00a08811223, e-mail nabeel.warraich@example.org. Payments go to the account "
                    "PK35 INDR 0000 1044 1788 2035 in the company's name. Finance telephones the director before the "
                    "first transfer, since account numbers sent by e-mail have been forged in the past."
                ),
            ),
            ("h", "Next steps"),
            (
                "p",
                (
                    "Dr Lodhi signs by 17 February 2026. Training of the company's twelve annotators takes place on 23 "
                    "and 24 February, led by Rabia Noor Khattak."
                ),
            ),
        ],
    ),
    "U4/memo_student_stipends.docx": (
        "Memo: stipends for research students, 2026",
        [
            ("p", "From Mei-Lin Tariq to the Finance Office, 14 January 2026. Confidential: personal data."),
            ("h", "Decision"),
            (
                "p",
                (
                    "The materials laboratory pays four stipends in 2026. The monthly amount rises from PKR 55,000 to "
                    "PKR 62,000 on 1 March. Doctoral students receive it for 36 months and master's students for 12."
                ),
            ),
            ("h", "Recipients"),
            (
                "t",
                [
                    ["Name", "CNIC", "Level", "Ends"],
                    ["Shahmeer Leghari", "32103-6677882-5", "doctoral", "31 August 2027"],
                    ["Arooj Nisar Khichi", "3630298877664", "doctoral", "28 February 2027"],
                    ["Bushra Qadir Mazari", "32402 1122338 2", "master's", "31 December 2026"],
                    ["Hamza Yar Gurmani", "32304\u20114455669\u20113", "master's", "31 December 2026"],
                ],
            ),
            ("h", "How payment works"),
            (
                "p",
                (
                    "Stipends are paid on the 3rd working day of each month. A change of account has to reach Finance "
                    "by the 18th of the month before. Students on unpaid leave of more than 30 days are not paid for "
                    "that time, and the end date moves accordingly."
                ),
            ),
            ("h", "Extra work"),
            (
                "p",
                (
                    "A student may teach for up to six hours a week in addition, at PKR 1,400 an hour. Work for "
                    "companies needs the agreement of Dr Zubair Hashmi Gilani."
                ),
            ),
            ("h", "Questions"),
            (
                "p",
                (
                    "Please call Bushra Qadir Mazari on 0331 4455778 about the missing bank form; she is at a field "
                    "site until 26 January and answers only by telephone. Everything else comes to me."
                ),
            ),
        ],
    ),
    "public/incident_reporting.docx": (
        "Incident and near-miss reporting",
        [
            (
                "p",
                (
                    "Safety Office protocol, in force since 5 January 2026. It covers injuries, fires, releases, "
                    "near misses and failures of protective equipment. Information-security incidents are reported to "
                    "the security line instead."
                ),
            ),
            ("h", "Why report"),
            (
                "p",
                (
                    "Reports are used to prevent the next event. Nobody is disciplined for an honest report. In 2025 "
                    "the institute received 143 reports, of which 118 were near misses; nine led to a change of a rule."
                ),
            ),
            ("h", "Deadlines"),
            (
                "t",
                [
                    ["Severity", "Example", "Report within"],
                    ["1 near miss", "slip without a fall", "3 working days"],
                    ["2 minor", "cut with a plaster", "24 hours"],
                    ["3 serious", "hospital visit, evacuation", "2 hours by telephone"],
                    ["4 major", "lasting harm, fire brigade", "immediately"],
                ],
            ),
            ("h", "How to report"),
            (
                "l",
                [
                    "Make the place safe and help the injured first.",
                    "Call extension 2222 for severity 3 and 4.",
                    "Fill in the form: what, where, when, who saw it, what was done.",
                    "Do not move equipment that was involved in severity 3 or 4 until it has been photographed.",
                ],
            ),
            ("h", "Investigation"),
            (
                "p",
                (
                    "The local safety officer looks into severity 1 and 2 and closes them within 20 working days. For "
                    "severity 3 and 4 the Head of Safety, Engr. Romana Bugti, appoints a team of three within 48 "
                    "hours. The team reports after 30 days. Causes are described without names."
                ),
            ),
            ("h", "Learning"),
            (
                "p",
                (
                    "A summary of each severity 3 or 4 event is sent to all laboratories. Measures are followed up "
                    "after six months. Anonymous reports are possible through the blue box beside the cafeteria, which "
                    "is emptied on Mondays and Thursdays."
                ),
            ),
        ],
    ),
}

# --------------------------------------------------------------------------------------------------------------
# Workbooks: sheet name -> rows, the first row is the header.
# --------------------------------------------------------------------------------------------------------------
XLSXS: dict[str, tuple[str, dict[str, list[list[object]]]]] = {
    "U1/sample_register.xlsx": (
        "Sample register of the genomics laboratory, extract",
        {
            "Samples": [
                [
                    "sample_id",
                    "participant",
                    "type",
                    "site",
                    "collected",
                    "freezer",
                    "rack",
                    "box",
                    "aliquots_left",
                    "thaw_count",
                    "status",
                ],
                ["GS-20117", "PT-0088", "whole blood", "Lahore", "2023-10-02", "FZ-03", 4, 11, 3, 1, "ok"],
                ["GS-20164", "PT-0131", "saliva", "Lahore", "2023-10-19", "FZ-01", 2, 5, 2, 0, "ok"],
                ["GS-20290", "PT-0347", "whole blood", "Multan", "2023-12-11", "FZ-03", 6, 2, 1, 2, "last aliquot"],
                ["GS-20418", "PT-0562", "buffy coat", "Multan", "2024-01-23", "FZ-03", 9, 14, 4, 0, "ok"],
                ["GS-20533", "PT-0714", "whole blood", "Rawalpindi", "2024-02-27", "FZ-03", 10, 3, 2, 1, "LATE"],
                ["GS-20601", "PT-0871", "whole blood", "Rawalpindi", "2024-03-14", "FZ-03", 10, 8, 2, 1, "relabelled"],
                ["GS-20777", "PT-1026", "RNA eluate", "Faisalabad", "2024-05-06", "FZ-01", 7, 1, 5, 0, "ok"],
                ["GS-20845", "PT-1201", "whole blood", "Faisalabad", "2024-06-18", "FZ-03", 12, 9, 3, 0, "ok"],
                ["GS-20990", "PT-1450", "whole blood", "Rawalpindi", "2024-03-14", "FZ-03", 10, 9, 2, 1, "relabelled"],
                ["GS-21138", "PT-1688", "saliva", "Multan", "2024-09-03", "FZ-01", 3, 6, 0, 3, "exhausted"],
                ["GS-21302", "PT-1914", "buffy coat", "Lahore", "2024-11-12", "FZ-03", 15, 4, 4, 0, "ok"],
                ["GS-21377", "PT-2003", "buffy coat", "Lahore", "2024-12-05", "FZ-03", 15, 10, 2, 2, "re-extracted"],
            ],
            "Shipments": [
                ["shipment", "date", "destination", "samples", "temperature", "courier", "logger", "remark"],
                ["SH-31", "2025-02-04", "Karachi reference laboratory", 24, "dry ice", "Shaheen Freight", "yes", "ok"],
                ["SH-32", "2025-03-11", "Oslo partner", 60, "dry ice", "Nordline", "yes", "customs delay 2 days"],
                ["SH-33", "2025-04-22", "Islamabad secretariat", 12, "ambient", "Shaheen Freight", "no", "DNA cards"],
                ["SH-34", "2025-06-17", "Karachi reference laboratory", 30, "dry ice", "Shaheen Freight", "yes", "ok"],
                ["SH-35", "2025-08-05", "Leeds partner", 48, "dry ice", "Nordline", "yes", "logger warm for 3 hours"],
                ["SH-36", "2025-10-21", "Oslo partner", 36, "dry ice", "Nordline", "yes", "ok"],
                [
                    "SH-37",
                    "2026-01-13",
                    "Karachi reference laboratory",
                    18,
                    "dry ice",
                    "Indus Cargo",
                    "yes",
                    "new courier on trial",
                ],
                ["SH-38", "2026-03-03", "Leeds partner", 40, "dry ice", "Nordline", "yes", "ok"],
            ],
            "Racks": [
                ["rack", "freezer", "boxes", "free_positions", "counted_on", "errors"],
                [2, "FZ-01", 13, 88, "2025-09-16", 0],
                [3, "FZ-01", 13, 41, "2025-09-16", 1],
                [4, "FZ-03", 16, 12, "2025-09-17", 0],
                [6, "FZ-03", 16, 7, "2025-09-17", 0],
                [9, "FZ-03", 16, 19, "2025-09-18", 2],
                [10, "FZ-03", 16, 3, "2025-09-18", 1],
                [12, "FZ-03", 16, 26, "2025-12-10", 0],
                [15, "FZ-03", 14, 131, "2025-12-10", 0],
            ],
        },
    ),
    "U3/equipment_inventory.xlsx": (
        "Equipment inventory and booking slots of the robotics laboratory",
        {
            "Inventory": [
                ["asset", "item", "maker", "year", "location", "value_pkr", "condition", "responsible"],
                [
                    "RB-001",
                    "seven-axis arm, 5 kg",
                    "Indus Automation",
                    2021,
                    "hall R-02",
                    16200000,
                    "good",
                    "Kamran Yousafzai",
                ],
                [
                    "RB-004",
                    "quadruped",
                    "Saiga Robotics",
                    2023,
                    "hall R-02",
                    9800000,
                    "left hip serviced",
                    "Zohaib Hasnain Brohi",
                ],
                ["RB-007", "mobile base", "Rover Works", 2022, "hall R-02", 5450000, "good", "Kenji Alvarado"],
                [
                    "RB-009",
                    "drone, six rotors",
                    "Falcon Yard",
                    2024,
                    "net cage",
                    1320000,
                    "one spare rotor missing",
                    "Palwasha Durrani",
                ],
                [
                    "RB-012",
                    "depth camera",
                    "Ayna Optics",
                    2024,
                    "manipulation cell",
                    285000,
                    "remounted",
                    "Dr Emeka Adeyinka-Rao",
                ],
                ["RB-013", "depth camera", "Ayna Optics", 2024, "mobile base", 285000, "good", "Kenji Alvarado"],
                [
                    "RB-015",
                    "force sensor, six-axis",
                    "Tarazu",
                    2020,
                    "manipulation cell",
                    910000,
                    "drift, replace in 2026",
                    "Kamran Yousafzai",
                ],
                ["RB-018", "lathe", "Gujranwala Tools", 2012, "workshop R-05", 740000, "good", "Zohaib Hasnain Brohi"],
                [
                    "RB-021",
                    "motion capture, 12 cameras",
                    "Nigah Systems",
                    2023,
                    "hall R-02",
                    13700000,
                    "good",
                    "Dr Emeka Adeyinka-Rao",
                ],
                ["RB-022", "compressor", "Hawa Industrial", 2018, "R-03", 460000, "noisy", "Kamran Yousafzai"],
                ["RB-024", "total station", "Sarhad Survey", 2022, "store R-04", 2150000, "good", "Kenji Alvarado"],
            ],
            "Booking slots": [
                ["day", "slot", "resource", "booked_by", "project", "note"],
                ["Monday", "08:00-12:00", "manipulation cell", "Palwasha Durrani", "soft fingers", "weekly"],
                ["Monday", "13:00-17:00", "manipulation cell", "Dr Emeka Adeyinka-Rao", "MandiGrasp", "weekly"],
                ["Tuesday", "13:00-17:00", "motion capture", "Zohaib Hasnain Brohi", "quadruped gait", "weekly"],
                ["Wednesday", "08:00-12:00", "net cage", "Palwasha Durrani", "drone landing", "spotter needed"],
                ["Wednesday", "13:00-17:00", "manipulation cell", "Kamran Yousafzai", "maintenance", "no users"],
                ["Thursday", "08:00-12:00", "motion capture", "Kenji Alvarado", "mapping", "not on induction days"],
                ["Thursday", "13:00-17:00", "manipulation cell", "students", "cell licence practice", "two at a time"],
                ["Friday", "08:00-12:00", "hall floor", "Kenji Alvarado", "mobile base", "cones out"],
                ["Friday", "14:30-17:00", "hall floor", "open", "first come", "book on Thursday"],
            ],
        },
    ),
    "U4/budget_2026.xlsx": (
        "Budget of the materials laboratory, 2026",
        {
            "Budget lines": [
                ["line", "category", "planned_pkr", "spent_to_april_pkr", "owner", "comment"],
                ["B1", "tube furnace", 7280000, 7145000, "Mei-Lin Tariq", "ordered in April"],
                ["B2", "precursor chemicals", 6200000, 6035000, "Mei-Lin Tariq", "two-year order"],
                ["B3", "sputter targets", 1150000, 0, "Dr Svetlana Morozova-Ali", "order in May"],
                ["B4", "gases", 820000, 266000, "Rashid Pervaiz Butt", "argon price up"],
                ["B5", "glovebox service", 940000, 470000, "Dr Svetlana Morozova-Ali", "half-yearly"],
                ["B6", "stipends", 2920000, 934000, "Mei-Lin Tariq", "rise in March"],
                ["B7", "travel", 1300000, 218000, "Dr Zubair Hashmi Gilani", "Lisbon in September"],
                ["B8", "diffraction time", 360000, 144000, "Shahmeer Leghari", "PKR 1,200 an hour"],
                ["B9", "safety equipment", 275000, 91000, "Rashid Pervaiz Butt", "gel and masks"],
                ["B10", "publication charges", 900000, 0, "Dr Paulo Benavides", "two papers planned"],
                ["B11", "reserve", 650000, 0, "Dr Zubair Hashmi Gilani", "needs written request"],
            ],
            "Income": [
                ["source", "amount_pkr", "received_on", "conditions"],
                ["solar cells grant", 13500000, "2026-01-09", "equipment by 15 April"],
                ["Satluj Glass Works, first instalment", 6000000, "2026-02-02", "confidential seal"],
                ["institute base funding", 2400000, "2026-01-15", "none"],
                ["furnace user fees", 310000, "2026-04-30", "for electricity"],
                ["conference refund", 84000, "2026-03-12", "travel only"],
                ["equipment sale", 145000, "2026-02-20", "old spin coater"],
                ["teaching support", 260000, "2026-03-31", "laboratory course"],
                ["student prize", 50000, "2026-04-17", "consumables of the winner"],
            ],
        },
    ),
}


def write_pdf(path: Path, title: str, blocks: list[Block]) -> None:
    sheet = getSampleStyleSheet()
    body, head = sheet["BodyText"], sheet["Heading2"]
    flow = [Paragraph(escape(title), sheet["Title"])]
    for kind, value in blocks:
        if kind == "h":
            flow.append(Paragraph(escape(str(value)), head))
        elif kind == "p":
            flow.append(Paragraph(escape(str(value)), body))
        elif kind == "l":
            flow.append(ListFlowable([Paragraph(escape(x), body) for x in value], bulletType="1"))  # type: ignore
        elif kind == "t":
            table = Table([[Paragraph(escape(c), body) for c in row] for row in value], hAlign="LEFT")  # type: ignore
            table.setStyle(
                TableStyle(
                    [
                        ("GRID", (0, 0), (-1, -1), 0.4, colors.grey),
                        ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
                        ("VALIGN", (0, 0), (-1, -1), "TOP"),
                    ]
                )
            )
            flow += [table, Spacer(1, 8)]
        elif kind == "page":
            flow.append(PageBreak())

    def footer(canvas, doc) -> None:  # type: ignore[no-untyped-def]
        canvas.setFont("Helvetica", 8)
        canvas.drawCentredString(A4[0] / 2, 1.2 * cm, f"{AUTHOR}, page {doc.page}")

    doc = SimpleDocTemplate(
        str(path),
        pagesize=A4,
        title=title,
        author=AUTHOR,
        invariant=1,
        leftMargin=2.2 * cm,
        rightMargin=2.2 * cm,
        topMargin=2 * cm,
        bottomMargin=2 * cm,
    )
    doc.build(flow, onFirstPage=footer, onLaterPages=footer)


def write_fixed_zip(path: Path, data: bytes) -> None:
    """Office files are zip archives: write the parts again with one fixed date, so a rebuild gives equal bytes."""
    stamp = STAMP.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    with zipfile.ZipFile(io.BytesIO(data)) as src, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as dst:
        for name in src.namelist():
            part = src.read(name)
            if name == "docProps/core.xml":
                part = re.sub(rb"(<dcterms:(created|modified)[^>]*>)[^<]*", rb"\g<1>" + stamp, part)
            info = zipfile.ZipInfo(name, STAMP.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            dst.writestr(info, part)


def write_docx(path: Path, title: str, blocks: list[Block]) -> None:
    doc = Document()
    props = doc.core_properties
    props.title, props.author, props.last_modified_by, props.comments = title, AUTHOR, AUTHOR, ""
    doc.add_heading(title, level=1)
    for kind, value in blocks:
        if kind == "h":
            doc.add_heading(str(value), level=2)
        elif kind == "p":
            doc.add_paragraph(str(value))
        elif kind == "l":
            for item in value:  # type: ignore[attr-defined]
                doc.add_paragraph(item, style="List Bullet")
        elif kind == "t":
            rows: list[list[str]] = value  # type: ignore[assignment]
            table = doc.add_table(rows=len(rows), cols=len(rows[0]), style="Table Grid")
            for r, row in enumerate(rows):
                for c, cell in enumerate(row):
                    table.cell(r, c).text = cell
    out = io.BytesIO()
    doc.save(out)
    write_fixed_zip(path, out.getvalue())


def write_xlsx(path: Path, title: str, sheets: dict[str, list[list[object]]]) -> None:
    book = Workbook()
    book.remove(book.active)
    book.properties.title, book.properties.creator = title, AUTHOR
    book.properties.created = STAMP
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        for cell in sheet[1]:
            cell.font = Font(bold=True)
        sheet.freeze_panes = "A2"
    out = io.BytesIO()
    book.save(out)
    write_fixed_zip(path, out.getvalue())


def main() -> None:
    for table, write in ((PDFS, write_pdf), (DOCXS, write_docx), (XLSXS, write_xlsx)):
        for name, (title, content) in table.items():  # type: ignore[attr-defined]
            path = HERE / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, title, content)  # type: ignore[operator]
            print(name)


if __name__ == "__main__":
    main()
