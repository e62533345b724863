"""The stated option is found, a mentioned one is not."""

from __future__ import annotations

import unicodedata

import pytest

from evaluators.extractors.choice import choice_letter, choice_letters

J = "ABCDEFGHIJ"

STATED = [
    # distractors before the Chinese verdict
    ("甲的年代有误，A 不对；C 与史实相反，D 张冠李戴，可见只有选项B是对的。", "ABCD", "B"),
    ("A项偷换概念，B项片面，D项不合逻辑，只有C选项正确。", "ABCD", "C"),
    ("生石灰是氧化钙（B），熟石灰是氢氧化钙（C），故选A。", "ABCD", "A"),
    ("A、C、D 三项表述无误，只有B错误，故选B。", "ABCD", "B"),
    ("综上所述，本题答案为：Ｄ。", "ABCD", "D"),
    ("答案【C】", "ABCD", "C"),
    ("因此，正确选项是 **C**。", "ABCD", "C"),
    ("这道题应该选择B项。", "ABCD", "B"),
    ("很多人会选A，但正确答案是D。", "ABCD", "D"),
    ("答案不是A，而是C。", "ABCD", "C"),
    ("如果选A，则与题意矛盾，所以选D", "ABCD", "D"),
    ("选项C正确", "ABCD", "C"),
    ("B正确", "ABCD", "B"),
    ("不选A，选B。", "ABCD", "B"),
    ("答案应该是：D", "ABCD", "D"),
    # talk after the answer
    ("Hence the answer is C. A lot of folks would go for D, though.", "ABCD", "C"),
    ("The answer is D, as I worked out when I tried every case.", J, "D"),
    ("THE ANSWER IS B. OPTION C FAILS.", "ABCD", "B"),
    ("Answer: C\n\nExplanation: A is too early and B is a river, while D is in Spain.", "ABCD", "C"),
    ("Answer: B, C is wrong because it is a river.", "ABCD", "B"),
    # decoration
    ("ANSWER: $C$", "ABCD", "C"),
    ("**Answer**: **C**", "ABCD", "C"),
    ("***Answer: C***", "ABCD", "C"),
    ("Answer: (C).", "ABCD", "C"),
    ("Final answer: $\\boxed{C}$", "ABCD", "C"),
    ("Therefore \\boxed{\\text{C}}", "ABCD", "C"),
    ("\\boxed{\\textbf{(C) } 12}", "ABCD", "C"),
    ("\\boxed{C. \\text{Berlin}}", "ABCD", "C"),
    ("<answer>C</answer>", "ABCD", "C"),
    ("<answer>\n(C) Berlin\n</answer>", "ABCD", "C"),
    ("[[C]]", "ABCD", "C"),
    ('{"reasoning": "Rome is in Italy", "answer": "C"}', "ABCD", "C"),
    ('```json\n{"choice": "C"}\n```', "ABCD", "C"),
    ("The answer is `C`.", "ABCD", "C"),
    ("### Answer\n\n**C**", "ABCD", "C"),
    ("## Final Answer\nC. Berlin", "ABCD", "C"),
    ("The correct option is “C”.", "ABCD", "C"),
    # the letter's case, the last line, other words
    ("answer: c", "ABCD", "C"),
    ("the answer is a.", "ABCD", "A"),
    ("Answer: the question wants a city.\nOslo is in Norway.\nANSWER: C", "ABCD", "C"),
    ("The answer is not A but C.", "ABCD", "C"),
    ("The answer isn't B, it's D.", "ABCD", "D"),
    ("I'd go with option D.", "ABCD", "D"),
    ("I would therefore choose (B).", "ABCD", "B"),
    ("So we pick C here, since the others fail.", "ABCD", "C"),
    ("Option B is correct.", "ABCD", "B"),
    ("(B) is the correct answer.", "ABCD", "B"),
    ("B. Paris is the correct answer.", "ABCD", "B"),
    ("A is not right; it must be D.", "ABCD", "D"),
    ("I think A, but actually B", "ABCD", "B"),
    ("The answer is A. Wait, I misread the table, it must be C.", "ABCD", "C"),
    ("My first thought was A. The answer is B. Hmm, no: the answer is D.", "ABCD", "D"),
    ("I am not sure, but I think the answer is B.", "ABCD", "B"),
    ("Since A is not in France, the answer is B.", "ABCD", "B"),
    ("Rome is not in France so the answer is B", "ABCD", "B"),
    ("The correct answer to the question about capitals is B.", "ABCD", "B"),
    ("The best choice would be D) Madrid.", "ABCD", "D"),
    ("Looking at each option...\n\nTherefore, C.", "ABCD", "C"),
    ("That corresponds to option (D).", "ABCD", "D"),
    ("The answer is (J).", J, "J"),
    ("The answer is I.", J, "I"),
    ("The final answer is (A)", "ABCD", "A"),
    ("Answer: A because it is the capital.", "ABCD", "A"),
    ("Answer: A", "ABCD", "A"),
    ("Answer is 2", "0123", "2"),
    # nothing but the letter, or a line of it
    ("B", "ABCD", "B"),
    ("(b)", "ABCD", "B"),
    ("B.", "ABCD", "B"),
    ("B. Paris", "ABCD", "B"),
    ("B) Paris, since it is on the Seine.", "ABCD", "B"),
    ("**B. Paris**", "ABCD", "B"),
    ("B because it is on the Seine", "ABCD", "B"),
    ("Let me see. Paris lies on the Seine.\n\nB", "ABCD", "B"),
    ("Let me think. C", "ABCD", "C"),
    ("C\n\nA is wrong as it is in Italy.", "ABCD", "C"),
    ("Option D", "ABCD", "D"),
    # reasoning
    ("<think>The answer is A? No.</think>The answer is B.", "ABCD", "B"),
    ("Rome is Italian. Answer: A?</think>\n\nAnswer: B", "ABCD", "B"),
    ("<think>\n\n</think>\n\nB", "ABCD", "B"),
    ("◁think▷Answer: A◁/think▷Answer: B", "ABCD", "B"),
    # invented questions
    ("Answer: B\n\nQuestion: What is the capital of Spain?\nAnswer: D", "ABCD", "B"),
    ("Question: which city?\nAnswer: C", "ABCD", "C"),
]

NOT_STATED = [
    "",
    "   ",
    "Okay, the user asks about Mars. Option A says Venus, which is hot, but let me check",
    "Option A is Venus and option B is Mars.",
    "A good question! I cannot tell.",
    "I do not know.",
    "None of the above.",
    "Answer: None of these",
    "The answer is A or B.",
    "The answer could be A, or it could be C.",
    "It is either B or D.",
    "If the answer is A, then Rome would be in France.",
    "Is the answer B?",
    "Some might say the answer is A.",
    "Answer: A/B/C/D",
    "The answer is a city in France.",
    "The answer is A man called Horse.",
    "Answer: I think we need more data.",
    "Answer: I cannot say.",
    "A. Rome\nB. Paris\nC. Berlin\nD. Madrid",
    "A: Rome is in Italy.\nB: Paris is in France.",
    "I do not think that B is the correct answer.",
    "B is wrong, and so is C.",
    "A is incorrect because Rome is in Italy.",
    "The wrong answer is B.",
    "<think>The answer is A",
    "<think>So I would choose B.</think>",
    '```json\n{"tool_call": {"name": "web_search", "arguments": {}}}\n```',
    "The answer is Paris.",
    "Answer: Dublin",
    "Vitamin C and vitamin D are both needed.",
    "The answer is A. Wait, that is wrong.",
    "不选A",
    "A项和B项都涉及地理。",
    "我无法确定答案。",
    "选项A说的是水星，选项B说的是火星。",
    "如果选A，则矛盾。",
    "答案可能是A或B。",
    "Answer: E = mc^2",
    "The answer is C++.",
    "Answer: B-trees are used.",
    "\\boxed{5}",
    "Please choose A, B, C or D.",
    "The last line should be of the form Answer: $LETTER",
]

SEVERAL = [
    ("ANSWER: A, C and D", "ABCD", "ACD"),
    ("答案：B、C、D", "ABCD", "BCD"),
    ("Answer: B, D", "ABCD", "BD"),
    ("答案: ABD", "ABCD", "ABD"),
    ("The correct options are (A) and (C).", "ABCD", "AC"),
    ("Both A and C are correct.", "ABCD", "AC"),
    ("\\boxed{A, D}", "ABCD", "AD"),
    ("\\boxed{AD}", "ABCD", "AD"),
    ('{"answer": ["A", "D"]}', "ABCD", "AD"),
    ("<answer>A,B</answer>", "ABCD", "AB"),
    ("故选AC。", "ABCD", "AC"),
    ("正确的是A和D", "ABCD", "AD"),
    ("A, C", "ABCD", "AC"),
    ("ABD", "ABCD", "ABD"),
    ("Answer: C", "ABCD", "C"),
    ("The answer is A or C.", "ABCD", None),
    ("A. Rome\nB. Paris", "ABCD", None),
    ("A good question", "ABCD", None),
]


@pytest.mark.parametrize(("reply", "options", "letter"), STATED)
def test_a_stated_option_is_found(reply, options, letter):
    found = choice_letter(reply, options)
    assert found.value == letter
    assert unicodedata.normalize("NFKC", reply[found.start : found.end]).upper() == letter


@pytest.mark.parametrize("reply", NOT_STATED)
def test_a_mention_is_no_answer(reply):
    assert choice_letter(reply).value is None


@pytest.mark.parametrize(("reply", "options", "letters"), SEVERAL)
def test_several_options_are_found(reply, options, letters):
    assert choice_letters(reply, options).value == letters
