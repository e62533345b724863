"""Boxes and final answers in the reply's own words."""

from __future__ import annotations

import pytest

from evaluators.extractors.boxed import boxed, final_answer

BOXES = [
    ("First \\boxed{6}. No, a sign was lost: \\boxed{9}", "9"),
    ("\\boxed{\\frac{2}{3}}", "\\frac{2}{3}"),
    ("$\\boxed{\\sqrt{\\frac{a}{b}}}$", "\\sqrt{\\frac{a}{b}}"),
    ("\\boxed{ x^{2} + 1 }.", "x^{2} + 1"),
    ("\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"),
    ("\\boxed{\\boxed{7}}", "7"),
    ("\\boxed {7}", "7"),
    ("\\fbox{7}", "7"),
    ("thus \\boxed{\\frac{2}{3", None),
    ("\\boxed{4} and then \\boxed{\\frac{2}{3", "4"),
    ("\\boxed{}", None),
    ("no box", None),
    ("<think>\\boxed{1}</think>It is \\boxed{2}.", "2"),
    ("<think>\\boxed{1}", None),
    ("\\boxed{2}\n\nProblem: next one\n\\boxed{3}", "2"),
]

FINAL = [
    ("- The sky is blue.\nSo the answer is (C). ", "(C)"),
    ("So the answer is **(C)**.", "(C)"),
    ("So the answer is False.\n", "False"),
    ("So the answer is **invalid**.", "invalid"),
    ("Answer: Paris, France", "Paris, France"),
    ('The answer is "blue".', "blue"),
    ("The answer is $x^2$.", "x^2"),
    ("The answer is 3.5 metres.", "3.5 metres"),
    ("The answer is no, because it rains.", "no"),
    ("**Final Answer:** 42 cm", "42 cm"),
    ("答案是「北京」。", "北京"),
    ("#### 18", "18"),
    ("<answer> 7/8 </answer>", "7/8"),
    ("The answer is 6. Check... The answer is \\boxed{9}.", "9"),
    ("The answer is red. Wait. The answer is blue.", "blue"),
    ("I do not know.", None),
    ("If the answer is red, we are done", None),
    ("", None),
]


TAKEN_BACK = [
    "The value is $\\boxed{18}$. Let me sanity check by plugging back in: $18/3 = 6$, $6+4=10 \\neq 12$. So this fails. I "
    "can't find the flaw in the remaining time.",
    "$\\boxed{18}$. My apologies, I solved for $y$ while $x$ was asked, and $x$ can't be determined from this.",
    "$\\boxed{18}$ turned out to be wrong when I checked it, so please consider this question unanswered.",
    "得 $\\boxed{18}$。但题目中说 $x$ 是质数，18 不是质数，所以这不可能是答案，请允许我再想想。",
    "答案：$\\boxed{18}$。——划掉，符号弄反了。",
    "So $\\boxed{12}$. On reflection I no longer trust this: the case $n=0$ was dropped, and I can't redo the count here.",
    "$\\boxed{8}$ - please disregard, I used degrees instead of radians. I can't give a reliable value.",
    "So I get $\\boxed{40}$. But the total is only 35, so 40 can't be correct. I'm stuck.",
    "$\\boxed{2}$ doesn't satisfy the equation after all, so I must withdraw it.",
    "因此答案是 $\\boxed{15}$。\n\n抱歉，我发现上面的推导漏掉了负根，这个答案不能用，请忽略。",
    "$\\boxed{3}$。检验：代入得 $9\\ne 8$，所以上面的答案不成立，我需要重新计算。",
    "故 $\\boxed{24}$。啊，我把排列当成了组合，方框里的数不算数，暂时给不出正确结果。",
    "Also ist $\\boxed{7}$. Moment, das stimmt nicht: ich habe die Klammer falsch aufgelöst. Ein richtiges Ergebnis habe ich "
    "nicht.",
    "Donc $\\boxed{7}$. Non, c'est faux, j'ai oublié le cas $x=0$. Je ne peux pas conclure.",
    "Por lo tanto $\\boxed{7}$. Espera, esto está mal: confundí el radio con el diámetro. No puedo dar una respuesta.",
    "したがって $\\boxed{7}$。いや、これは間違いです。条件を読み落としていました。",
    "Ответ: $\\boxed{7}$. Стоп, это неверно: я перепутал знаки. Правильного ответа у меня нет.",
    "Portanto $\\boxed{7}$. Espere, isso está errado, pois esqueci o sinal. Não tenho a resposta.",
    "The above box, $\\boxed{19}$, should be ignored; the question lacks the value of $r$.",
    "So we find $\\boxed{5}$.\n\nHmm. The triangle would then have sides 1, 1, 5. Not possible. I must have slipped, but I "
    "can't see where.",
    "So we find $\\boxed{5}$. This answer rests on a misreading of the table and should not be used.",
    "So we find $\\boxed{5}$. EDIT: don't take this as the answer; row two is misaligned and the sum isn't right.",
    "解：设长为 $x$，则 $2(x+3)=20$，$x=7$。\n\n所以面积为 $\\boxed{21}$。\n\n咦，题目给的是对角线而不是周长，"
    "这样上面这一步就站不住脚了。缺少数据，没法算。",
    "由此得 $\\boxed{9}$。\n\n仔细一看，题目要求的是最小值而非最大值，因此该结果不符合题意，需另行求解。",
    "最终答案：\\boxed{64}\n\n（更正：上式抄错了指数，答案无效，请勿采用。）",
    "我刚才写的 $\\boxed{64}$ 是不对的。重新想了一遍，还是没有头绪。",
    "On trouve $\\boxed{4}$. En fait, je me suis trompé: le dénominateur s'annule. Je retire cette réponse.",
    "Se obtiene $\\boxed{4}$. No, me equivoqué al despejar. No tengo una respuesta válida.",
]

STANDING = [
    ("$\\boxed{18}$。等一下，单位换算是不是有问题？1 km = 1000 m，没有问题，答案不变。", "18"),
    ("$\\boxed{18}$\n\n总结：本题考查二次函数的最值，计算时注意不要漏掉端点。", "18"),
    (
        "$\\boxed{18}$\n\n**Key takeaways**\n- Always check the domain.\n- It is a mistake to cancel $x$ before checking "
        "$x\\neq0$.\n- Never forget $+C$.",
        "18",
    ),
    ("$\\boxed{18}$\n\nConfidence: 60%. I was not sure about the second step, and it could be wrong.", "18"),
    ("$\\boxed{13}$. Wait, is that wrong? Let me check: $13\\cdot 2=26$. Yes, it's correct.", "13"),
    ("$\\boxed{13}$\n\nHmm, that can't be right... or can it? Substituting: $13^2=169$, as required. OK, so it holds.", "13"),
    ("$\\boxed{13}$。等等，是不是算错了？再验算：$13\\times 2=26$，没问题。", "13"),
    ("$\\boxed{\\text{False}}$, as the claim is wrong for $n=2$.", "\\text{False}"),
    ("$\\boxed{B}$. Option A is wrong since it ignores friction; option C is incorrect.", "B"),
    (
        "$\\boxed{5}$\n\nNote: a common error is to multiply instead of add and get 6. This is wrong, because the events are "
        "exclusive.",
        "5",
    ),
    ("$\\boxed{5}$。注意：若直接相加会得到 6，这是错误的。", "5"),
    ("$\\boxed{5}$。很多同学会算成 6，这是不对的，因为忽略了重叠部分。", "5"),
    ("$\\boxed{5}$. My earlier estimate of 6 was wrong because I had forgotten the overlap.", "5"),
    ("$\\boxed{5}$. Please let me know if this is wrong!", "5"),
    ("$\\boxed{5}$. Your answer of 7 is not correct because you divided by the wrong number.", "5"),
    (
        "$\\boxed{\\text{No}}$\n\nSuppose it were. Then $2p=q$, but this contradicts the minimality of $q$. So the claim is false.",
        "\\text{No}",
    ),
    (
        "The answer is $\\boxed{7}$.\n\n**Explanation:** The function $f$ has no real roots, so it cannot be factored over "
        "the reals. It doesn't matter which branch we take.",
        "7",
    ),
    ("$\\boxed{x=2}$ (the root $x=-3$ is invalid because the logarithm is undefined there).", "x=2"),
    ("$\\boxed{12}$。以上计算没有错误，可以放心使用。", "12"),
    ("$\\boxed{12}$。这里不能用均值不等式，因为等号取不到。", "12"),
    ("$\\boxed{12}$. Ich habe das zweimal geprüft: es ist nicht falsch. ", "12"),
    ("$\\boxed{12}$. I was wrong in my previous message, where I said 14; thanks for pointing it out.", "12"),
    ("$\\boxed{8}$\n\n(反思：第一次计算时我漏掉了一个情形，后来补上了。)", "8"),
    ("$\\boxed{17}$ -- I can't provide the diagram, but the result follows from the text.", "17"),
    ("$\\boxed{17}$. Ignore the previous message.", "17"),
    ("Final: $\\boxed{5}$. Wait, is 0 a natural number here? The problem says positive, so no. The answer remains 5.", "5"),
]

OTHERS = [
    ("$\\boxed{5}$. The textbook's $\\boxed{7}$ counts the endpoints, which the question excludes.", "5"),
    ("答案为 $\\boxed{5}$。网上流传的 $\\boxed{7}$ 是把直径当成了半径。", "5"),
    ("$\\boxed{5}$. In part (b) of the exercise, which isn't asked here, the answer would be $\\boxed{9}$.", "5"),
    ("$\\boxed{5}$, not $\\boxed{7}$ as you suggested.", "5"),
    ("$\\boxed{5}$. Had the question asked for the perimeter, it would have been $\\boxed{14}$.", "5"),
    ("$\\boxed{5}$。如果题目问的是周长，则为 $\\boxed{14}$，但这里问的是面积。", "5"),
    ("$\\boxed{5}$ and not $\\boxed{-5}$, since lengths are positive.", "5"),
    (
        "The box in your message, $\\boxed{7}$, can't be right, because lengths add up to at most 6. I can't say what the "
        "right value is without the figure.",
        None,
    ),
    ("You propose $\\boxed{7}$. Without the figure I can neither confirm nor refute it.", None),
    ("Grok says $\\boxed{6}$; I say $\\boxed{3}$.", "3"),
    ("**Answer:** $\\boxed{3}$\n\n**Common error:** $\\boxed{6}$ (forgetting symmetry)", "3"),
    ("So your answer is $\\boxed{12}$.", "12"),
    ("他的速度为 $\\boxed{12}$ 千米每小时。", "12"),
    ("Then he printed the total: $\\boxed{12}$ pages.", "12"),
    ("答案是 $\\boxed{8}$，而不是 $\\boxed{6}$。", "8"),
]

FORMS = [
    ("记得把答案放进\\boxed{}里，例如\\boxed{42}。", None),
    ("请按如下格式作答：\\boxed{A}", None),
    ("Your final answer should look like this: \\boxed{42}", None),
    ("\\boxed{\\text{(final answer)}}", None),
    ("\\boxed{$ANSWER}", None),
    ("\\boxed{\\phantom{00}}", None),
    ("\\boxed{\\text{TODO}}", None),
    ("将 $x=2$ 代入，写成最简形式得 $\\boxed{12}$。", "12"),
    ("Writing the final answer in the required form: $\\boxed{12}$", "12"),
    ("按照题目要求的格式，最终答案为：$\\boxed{12}$", "12"),
    ("\\boxed{\\text{N/A}}", "\\text{N/A}"),
    ("Let $\\boxed{x}$ denote the number of apples. Then $2x=8$ and hence x=4.", None),
]

SEVERAL = [
    ("Method 1 gives $\\boxed{18}$, method 2 gives $\\boxed{20}$; I don't know which is correct.", None),
    ("Possible answers: $\\boxed{18}$, $\\boxed{20}$, $\\boxed{22}$. The information is insufficient to choose.", None),
    ("Das Ergebnis ist $\\boxed{18}$, nicht $\\boxed{20}$ wie im Buch.", "18"),
    ("Is it $\\boxed{7}$ or $\\boxed{8}$? I can't tell.", None),
    ("Two candidates remain: $\\boxed{2}$ and $\\boxed{3}$, and I see no reason to prefer one.", None),
    ("当 $a>0$ 时为 $\\boxed{a}$；当 $a<0$ 时为 $\\boxed{-a}$。题目没有说明，无法确定。", None),
    ("要么是 $\\boxed{8}$，要么是 $\\boxed{6}$，题意不明，我无法判断。", None),
    ("The solutions are $\\boxed{2}$ and $\\boxed{-2}$.", "-2"),
    ("Part 1: $\\boxed{3}$. Part 2: if we add 4 to it we get $\\boxed{7}$.", "7"),
    ("Step 1: $\\boxed{x+2=5}$\nStep 2: subtract 2, and then", None),
    ("$\\boxed{7}$\n\n【题目】计算 3+3。\n【解】$\\boxed{6}$", "7"),
    ("$\\boxed{7}$\n\n例3 求 3+3。\n解 $\\boxed{6}$", "7"),
]
HYPOTHETICAL = [
    ("$\\boxed{5}$. Wäre der Radius 3, so wäre das Ergebnis $\\boxed{9}$.", "5"),
    ("$\\boxed{5}$. Si le rayon était 3, on aurait $\\boxed{9}$, mais ce n'est pas demandé.", "5"),
    ("$\\boxed{5}$. Si el radio fuera 3, sería $\\boxed{9}$.", "5"),
    ("$\\boxed{5}$. Se il raggio fosse 3, sarebbe $\\boxed{9}$.", "5"),
    ("$\\boxed{5}$. Se o raio fosse 3, seria $\\boxed{9}$.", "5"),
    ("$\\boxed{5}$。倘若半径为 3，结果就是 $\\boxed{9}$。", "5"),
    ("$\\boxed{5}$. Если бы радиус был 3, ответ был бы $\\boxed{9}$.", "5"),
    ("$\\boxed{5}$. With 0 counted as natural it would be 6, but that isn't what the problem says.", "5"),
    ("$\\boxed{5}$. If one forgets the sign, one gets $\\boxed{-5}$, which is wrong.", "5"),
    ("$\\boxed{5}$. Many websites list 7; that is wrong.", "5"),
    ("$\\boxed{5}$. On some forums one finds the value 7. This is incorrect, since the endpoints aren't included.", "5"),
    ("$\\boxed{5}$. The calculator on that site shows 7, but this isn't right.", "5"),
    ("$\\boxed{5}$. Hätte man 0 mitgezählt, wären es 6, aber das ist hier nicht gefragt.", "5"),
    ("$\\boxed{5}$. Im Internet steht oft 7; das ist falsch.", "5"),
    ("$\\boxed{5}$. Sur Internet on trouve 7, c'est faux.", "5"),
    ("$\\boxed{5}$. En internet aparece 7; eso es incorrecto.", "5"),
    ("$\\boxed{5}$。网上有的答案是 7，这是错误的。", "5"),
    ("$\\boxed{5}$. Had we been asked for the sum, that would be 9, but this is not the question.", "5"),
    ("$\\boxed{5}$. For comparison: for $n=4$ the value is $\\boxed{9}$, but that isn't asked.", "5"),
    ("$\\boxed{5}$. But if we check: 5+5=11? No, so that's wrong. I don't have the right answer.", None),
    ("$\\boxed{5}$. If x=5 then 2x=11, but that is wrong.", "5"),
    ("$\\boxed{x = \\ldots}$ is the form.", None),
    ("\\boxed{x = \\underline{\\hspace{1cm}}}", None),
    ("\\boxed{1, 2, \\ldots}", "1, 2, \\ldots"),
    ("\\boxed{y=?}", None),
    ("For question 3: $\\boxed{5}$. For question 4: $\\boxed{6}$.", "6"),
    ('System.out.println("\\boxed{" + x + "}");', None),
    ("First \\boxed{3}. Then \\boxed{4}. Sorry, ignore the second box; the first one stands.", "3"),
    ("$\\boxed{4}$ (you may have seen $\\boxed{5}$ in older editions, a misprint)", "4"),
    ("$\\boxed{4}$. In an older edition the answer is given as $\\boxed{5}$; this was corrected later.", "4"),
]


@pytest.mark.parametrize(("reply", "content"), BOXES)
def test_the_last_complete_box_counts(reply, content):
    found = boxed(reply)
    assert found.value == content
    assert content is None or reply[found.start : found.end] == content


@pytest.mark.parametrize(("reply", "answer"), FINAL)
def test_a_final_answer_is_found_without_what_wraps_it(reply, answer):
    found = final_answer(reply)
    assert found.value == answer
    assert answer is None or reply[found.start : found.end] == answer


@pytest.mark.parametrize("reply", TAKEN_BACK)
def test_a_box_that_is_taken_back_is_none(reply):
    assert boxed(reply).value is None


@pytest.mark.parametrize(("reply", "content"), STANDING)
def test_remarks_after_a_box_leave_it(reply, content):
    assert boxed(reply).value == content


@pytest.mark.parametrize(("reply", "content"), [*OTHERS, *FORMS, *SEVERAL, *HYPOTHETICAL])
def test_the_box_is_the_reply_s_own_and_only_answer(reply, content):
    assert boxed(reply).value == content


@pytest.mark.timeout(30)
def test_tags_that_are_never_closed_are_passed_over_at_once():
    assert final_answer("<answer>" * 30_000 + "\nThe answer is 5.").value == "5"
