"""CLUE and FewCLUE tasks as choices."""

from leaderflow.core.types import Row
from readers.options import multiple_choice

YES_NO = ("是", "否")
INFERENCE = {"entailment": 0, "neutral": 1, "contradiction": 2, "蕴含": 0, "中立": 1, "矛盾": 2}
TOPICS = {
    "news_story": "故事",
    "news_culture": "文化",
    "news_entertainment": "娱乐",
    "news_sports": "体育",
    "news_finance": "财经",
    "news_house": "房产",
    "news_car": "汽车",
    "news_edu": "教育",
    "news_tech": "科技",
    "news_military": "军事",
    "news_travel": "旅游",
    "news_world": "国际",
    "news_stock": "股票",
    "news_agriculture": "农业",
    "news_game": "游戏",
}


def same(row: Row) -> Row:
    """Whether two sentences mean the same."""
    question = f"句子一：{row['sentence1']}\n句子二：{row['sentence2']}\n两个句子的意思相同吗？"
    return multiple_choice(question, YES_NO, 1 - int(row["label"]))


def inference(row: Row) -> Row | None:
    """Natural language inference; rows without an agreed label are left out."""
    if row["label"] not in INFERENCE:
        return None
    first, second = row.get("sentence1", row.get("text_a")), row.get("sentence2", row.get("text_b"))
    question = f"前提：{first}\n假设：{second}\n假设与前提是什么关系？"
    return multiple_choice(question, ["可以推出", "无法判断", "互相矛盾"], INFERENCE[row["label"]])


def mood(row: Row) -> Row:
    """The mood of a review."""
    question = f"评论：{row['sentence']}\n这条评论的情感倾向是？"
    return multiple_choice(question, ["正面", "负面"], ["Positive", "Negative"].index(row["label"]))


def keywords(row: Row) -> Row:
    """Whether all keywords are those of an abstract."""
    question = f"摘要：{row['abst']}\n关键词：{'，'.join(row['keyword'])}\n这些关键词都是该摘要的关键词吗？"
    return multiple_choice(question, YES_NO, 1 - int(row["label"]))


def idiom(row: Row) -> Row:
    """The idiom that fits a blank."""
    question = f"{row['content'].replace('#idiom#', '____')}\n横线处应填入哪个成语？"
    return multiple_choice(question, row["candidates"], row["answer"])


def topic(row: Row) -> Row:
    """The topic of a headline."""
    question = f"新闻标题：{row['sentence']}\n这条新闻属于哪一类？"
    return multiple_choice(question, list(TOPICS.values()), list(TOPICS).index(row["label_desc"]))


def pronoun(row: Row) -> Row:
    """What a pronoun stands for."""
    target = row["target"]
    question = f"{row['text']}\n文中的“{target['span2_text']}”指的是“{target['span1_text']}”吗？"
    return multiple_choice(question, YES_NO, 0 if row["label"] == "true" else 1)
