# Writes what Python's Jinja2 makes of the templates below, for test/run/templates/templates/jinja2/python-jinja2.test.ts, which needs no Python.
# Run it from the root of the repository, then format what it wrote:
# pip install 'jinja2==3.1.*' && python3 scripts/jinja2-expected.py && npx prettier --write test/run/templates/templates/jinja2/python-jinja2.json
import json

import jinja2
from jinja2.sandbox import SandboxedEnvironment

TARGET = "test/run/templates/templates/jinja2/python-jinja2.json"

VARIABLES = {
    "größe": "XL",
    "名前": "花子",
    "имя": "Анна",
    "naïve_1": 1,
    "x": "X y",
    "n": None,
    "t": True,
    "f": 1.5,
    "whole": 2.0,
    "i": 7,
    "big": 12345678901234567890123,
    "o": {"a": {"b": "deep"}, "k": 1},
    "numbers": [3, 1, 2],
    "rows": [
        {"name": "Peter", "age": 30, "city": "Oslo", "tags": ["a", "b"]},
        {"name": "ann", "age": 25, "city": "Rome", "tags": []},
        {"name": "Bob", "age": 35, "city": "oslo", "tags": ["c"]},
    ],
    "words": "the quick brown fox jumps over the lazy dog",
    "html": "<b>Tom & \"Jerry\"'s</b>",
    "empty": [],
    "lines": "a\nb\n\nc",
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello!"},
    ],
    "scores": {"math": 90, "Art": 85, "bio": None},
    "tree": [{"v": 1, "c": [{"v": 2, "c": []}, {"v": 3, "c": [{"v": 4, "c": []}]}]}],
}

TEMPLATES = [
    # names
    "{{ größe }} {{ 名前 }} {{ имя }} {{ naïve_1 }}",
    "{% set straße = größe ~ '!' %}{{ straße }}",
    "{% for zeile in rows %}{{ zeile.name }} {% endfor %}",
    "{{ missing }}|{{ missing is defined }}|{{ missing|default('d') }}",
    # values as texts
    "{{ t }} {{ n }} {{ f }} {{ whole }} {{ i }} {{ big }}",
    "{{ o }} {{ numbers }} {{ rows[0] }} {{ empty }} {{ {} }}",
    "{{ (1, 'a') }} {{ (1,) }} {{ () }} {{ 1, 2 }}",
    "{{ ['it\\'s', \"a\\\"b\", 'c\\n', '\\\\'] }}",
    "{{ 1e16 }} {{ 1.5e-5 }} {{ 100.0 }} {{ 1e3 }} {{ 0.1 + 0.2 }} {{ 1_000 }} {{ 0x1f }} {{ 0b101 }} {{ 0o17 }}",
    "{{ {1: 'a', 'b': none, 2.5: [true]} }}",
    "{{ [missing, none, 1.0] }}",
    "{{ 'a' 'b' }} {{ 'ü\\u00e9\\x41\\t|' }} {{ '\\d' }}",
    "{{ o.keys() }} {{ o.values() }} {{ scores.items() }} {{ range(3) }} {{ range(1, 9, 2) }}",
    # operators
    "{{ i + 1 }} {{ i - 10 }} {{ i * 2 }} {{ i / 2 }} {{ i // 2 }} {{ -7 // 2 }} {{ i % 4 }} {{ -7 % 3 }} {{ 2 ** 10 }} {{ 2 ** -1 }}",
    "{{ 2 ** 100 }} {{ 2 ** 3 ** 2 }} {{ -2 ** 2 }} {{ 7.5 // 2 }} {{ 7.5 % 2 }} {{ -7.5 % 2 }} {{ big * big }}",
    "{{ 'a' + 'b' }} {{ [1] + [2] }} {{ 'ab' * 3 }} {{ [0] * 3 }} {{ 2 * 'x' }} {{ t + 1 }}",
    "{{ x ~ i ~ t ~ n ~ numbers ~ missing }}",
    "{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 == 1.0 }} {{ 1 == t }} {{ '1' == 1 }} {{ [1] == [1.0] }} {{ 'a' < 'b' }} {{ 'Z' < 'a' }}",
    "{{ 'X' in x }} {{ 3 in numbers }} {{ 'k' in o }} {{ 9 not in numbers }} {{ not 3 in numbers }} {{ 'a' in missing }}",
    "{{ none == missing }} {{ missing == missing2 }} {{ {'a': 1} == {'a': 1.0} }} {{ (1, 2) < (1, 3) }} {{ [1, 2] == (1, 2) }}",
    "{{ empty or 'else' }} {{ x and i }} {{ 0 and 1 }} {{ not x }} {{ not empty }} {{ none or 0 or '' }}|",
    "{{ 'yes' if t else 'no' }} {{ 'yes' if empty else 'no' }} [{{ 'yes' if empty }}] {{ 1 if 0 else 2 if 0 else 3 }}",
    "{{ -i }} {{ +i }} {{ -f }} {{ 5 - -3 }} {{ -numbers[0] }} {{ -3|abs }}",
    "{{ 'Hello %s, you are %d' % (x, i) }} {{ '%05.2f' % f }} {{ '%s' % numbers }} {{ '%(a)s-%(b)s' % {'a': 1, 'b': 'z'} }} {{ '100%%' % () }}",
    # attributes, items, slices
    "{{ o.a.b }} {{ o['a']['b'] }} {{ numbers[0] }} {{ numbers.0 }} {{ numbers[-1] }} {{ numbers[9] }}|{{ o.nothing }}|{{ o['nothing'] }}|",
    "{{ x[0] }} {{ x[2:] }} {{ numbers[1:] }} {{ numbers[:2] }} {{ numbers[::-1] }} {{ x[::-1] }} {{ x[-1:] }} {{ numbers[::2] }} {{ x[5:1:-2] }}",
    "{{ rows[1].name }} {{ rows[0].tags[1] }} {{ rows.1.age }} {{ rows[0]['tags'][-1] }}",
    # statements
    "{% for row in rows %}{{ loop.index }}/{{ loop.length }} {{ row.name }}{{ loop.first }}{{ loop.last }} {% endfor %}",
    "{% for a in numbers %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.previtem }}-{{ loop.nextitem }} {% endfor %}",
    "{% for a in numbers %}{{ loop.cycle('odd', 'even') }} {% endfor %}",
    "{% for a in [1, 1, 2, 2, 1] %}{{ loop.changed(a) }} {% endfor %}",
    "{% for row in rows if row.age > 28 %}{{ loop.index }}{{ row.name }} {% else %}none{% endfor %}",
    "{% for a in empty %}x{% else %}nothing{% endfor %} {% for a in missing %}x{% else %}nothing{% endfor %}",
    "{% for k, v in o.items() %}{{ k }}={{ v }};{% endfor %} {% for k in o %}{{ k }}{% endfor %} {% for c in 'abc' %}{{ c }}.{% endfor %}",
    "{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for n in tree recursive %}{{ n.v }}{% if n.c %}({{ loop(n.c) }}){% endif %}{{ loop.depth }}{% endfor %}",
    "{% for i in range(3) %}{% for j in range(2) %}{{ i }}{{ j }} {% endfor %}{% endfor %}{{ i }}",
    "{% for a in [1, 2] %}{{ seen }}{% set seen = a %}{{ seen }} {% endfor %}{{ seen }}|",
    "{% set y = 1 %}{% for a in [1] %}{% set y = 2 %}{% endfor %}{{ y }} {% if t %}{% set y = 3 %}{% endif %}{{ y }}",
    "{% if i > 5 and not empty %}a{% elif t %}b{% else %}c{% endif %}{% if n %}d{% elif i == 7 %}e{% endif %}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }} {% set c = a + b %}{{ c }} {% set t2 = 1, 2 %}{{ t2 }}",
    "{% set y %}<{{ x }}>{% endset %}{{ y }} {% set z | upper | replace('X', 'Z') %}a{{ x }}{% endset %}{{ z }}",
    "{% set ns = namespace(total=0, name='n') %}{% for a in numbers %}{% set ns.total = ns.total + a %}{% endfor %}{{ ns.total }} {{ ns.name }}",
    "{% with %}{% set inner = 1 %}{{ inner }}{% endwith %}{{ inner }}|{% with a = 1, b = x %}{{ a }}{{ b }}{% endwith %}{{ a }}|",
    "{% with a = 1 %}{% with a = 2, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}{% endwith %}",
    "{% macro m(a, b=2, c='z') %}{{ a }}-{{ b }}-{{ c }} {% endmacro %}{{ m(1) }}{{ m(t, c=3) }}{{ m(b=1, a=2) }}{{ m() }}",
    "{% macro m() %}{{ varargs }} {{ kwargs }}{% endmacro %}{{ m(1, 'b', k=2) }}",
    "{% macro box(title) %}[{{ title }}: {{ caller() }}]{% endmacro %}{% call box('T') %}inside {{ i }}{% endcall %}",
    "{% macro each(list) %}{% for a in list %}{{ caller(a) }}{% endfor %}{% endmacro %}{% call(it) each(numbers) %}<{{ it }}>{% endcall %}",
    "{% macro f(n) %}{% if n > 1 %}{{ n }}{{ f(n - 1) }}{% else %}1{% endif %}{% endmacro %}{{ f(5) }}",
    "{% filter upper %}a{{ x }}{% endfilter %} {% filter replace('a', 'b')|upper %}banana{% endfilter %}",
    "a{% block title %}T {{ i }}{% endblock %}b{% block other %}{% endblock other %}",
    "a {# comment {{ x }} #} b{#- trimmed -#} c",
    "a  {%- if t %} b {% endif -%}  c {{- x -}} d",
    "{% if t %}\nyes\n{% endif %}\nend\n",
    "{%+ if t %}a{%+ endif %}",
    "{% raw %}{{ x }} {% if %} {# #}{% endraw %} {%- raw -%}  {{ y }}  {%- endraw -%}  z",
    "{{ '{{' }} {{ '}}' }} {{ {'a': {'b': 1}}['a']['b'] }}",
    "a\r\nb{{ x }}\r\n",
    "{{\n x\n}} {%\n if t\n%}y{% endif %}",
    "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }} {% set j = joiner('|') %}{{ j() }}1{{ j() }}2{{ j() }}3",
    "{{ dict(a=1, b=2) }} {{ dict([('k', 'v')]) }} {{ dict(o, z=1).z }}",
    "{% for m in messages %}{% if not loop.first %}\n{% endif %}{{ m.role|upper }}: {{ m.content }}{% endfor %}",
    "{% set l = [] %}{% set _ = l.append(1) %}{% set _ = l.extend([2, 3]) %}{{ l }} {{ l.pop() }} {{ l }}",
    "{% set d = {'a': 1} %}{% set _ = d.update({'b': 2}) %}{{ d }} {{ d.get('c') }} {{ d.get('c', 0) }} {{ d.pop('a') }}",
    # none is a value
    "{{ scores.bio }} {{ scores['bio'] }} {{ [none, 1]|first }} {{ [1, none]|last }} {{ [none][0] }} {{ scores.get('bio', 5) }} {{ scores.pop('x', none) }}",
    "{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m(none, none) }} {{ missing|default(none) }} {{ 'x'|int(none) }} {{ n is sameas none }} {{ n is eq(none) }} {{ n is not sameas none }}",
    "{% for a in [none, 1] %}{{ loop.previtem }}{{ loop.nextitem }} {% endfor %}{{ rows|map(attribute='nothing', default=none)|list }} {{ cycler(none, 1).next() }} {{ 5[1:] }}|{{ n[0] }}|",
    # filters of texts
    "{{ x|upper }} {{ x|lower }} {{ 'hello wORLD'|capitalize }} {{ \"it's a (big) world-wide\"|title }} {{ 5|upper }} {{ n|upper }} {{ 'ß'|upper }}",
    "{{ html|e }} {{ html|escape }} {{ html|e|e }} {{ html|safe|e }} {{ html|forceescape|forceescape }} {{ 1|e }}",
    "{{ html|striptags }} {{ 'a <!-- b <i> --> c  <p>d</p>\n e &amp; f &lt;'|striptags }}",
    "{{ words|truncate(20) }} {{ words|truncate(20, true) }} {{ words|truncate(11, end='…') }} {{ words|truncate(40) }} {{ 'short'|truncate(3, leeway=0) }}",
    "{{ words|truncate(40, false, '...', 0) }}|{{ 'abcdefghij'|truncate(5, leeway=0) }}|{{ words|truncate }}",
    "{{ words|wordcount }} {{ 'Größe, naïve: 1-2'|wordcount }} {{ ''|wordcount }}",
    "{{ words|wordwrap(15) }}",
    "{{ 'averyveryverylongword in-between hyphen-ated'|wordwrap(10) }}",
    "{{ 'averyveryverylongword here'|wordwrap(8, false) }}|{{ 'one two three'|wordwrap(7, wrapstring='/') }}|{{ 'a\nb c d e\n\nf'|wordwrap(3) }}",
    "{{ 'well-known co-operation'|wordwrap(8, break_on_hyphens=false) }}|{{ 'a -- b --- c--d'|wordwrap(4) }}",
    "{{ 'mid'|center(9) }}|{{ 'mid'|center(8) }}|{{ 'even'|center(9) }}|{{ 'x'|center(1) }}|",
    "{{ 'a b/c?d=é&f'|urlencode }} {{ {'q': 'a b', 'r': 'ü/'}|urlencode }} {{ [('k', 1), ('l', 'x y')]|urlencode }} {{ 5|urlencode }}",
    "{{ \"(a'b)*!~-_.\"|urlencode }}",
    "{{ '%s is %d and %.2f'|format('a', 5, 1.234) }} {{ '%(x)s!'|format(x=1) }} {{ '%5s|%-5s|%05d|%+d|%x|%X|%o|%e'|format('a', 'b', 42, 7, 255, 255, 8, 12345.678) }}",
    "{{ '%r %s %c %%'|format('a', none, 'z') }} {{ '%.3s'|format('abcdef') }} {{ '%g %g'|format(0.0001, 1e10) }}",
    "{{ 'aXbXc'|replace('X', '-') }} {{ 'aaa'|replace('a', 'b', 2) }} {{ 'ab'|replace('', '-') }} {{ 5|replace('5', 'x') }}",
    "{{ '  a '|trim }}| {{ 'xxaxx'|trim('x') }} {{ lines|indent }} {{ lines|indent(2, true) }} {{ lines|indent(2, true, true) }} {{ lines|indent('> ') }}",
    "{{ 'abc'|reverse }} {{ numbers|reverse|list }} {{ 'abc'|list }} {{ 'abc'|first }}{{ 'abc'|last }} {{ 'größe'|length }}",
    "{{ {'class': 'a b', 'id': none, 'n': 5, 'q': '\"'}|xmlattr }}|{{ {'a': 1}|xmlattr(false) }}|{{ {}|xmlattr }}",
    "{{ 5|string ~ 'a' }} {{ numbers|string|length }} {{ t|string }} {{ missing|string }}|",
    # tojson
    "{{ o|tojson }} {{ rows|tojson }}",
    "{{ {'z': 1, 'a': [none, true, 1.0, 'é']}|tojson }} {{ html|tojson }} {{ '名'|tojson }} {{ '😀'|tojson }}",
    "{{ o|tojson(indent=2) }} {{ empty|tojson(2) }} {{ {}|tojson(2) }}",
    "{{ big|tojson }} {{ 1e100|tojson }} {{ (1, 'a')|tojson }} {{ {1: 2, none: 3}|tojson if false else {1: 2}|tojson }} {{ html|tojson|e }}",
    # numbers
    "{{ 42.55|round }} {{ 42.55|round(1) }} {{ 2.5|round }} {{ 3.5|round }} {{ 42.55|round(1, 'floor') }} {{ 42.51|round(0, 'ceil') }} {{ 7|round }} {{ -2.5|round }} {{ 1234|round(-2) }} {{ 1250.0|round(-2) }}",
    "{{ '42'|int }} {{ '42.7'|int }} {{ 'x'|int }} {{ 'x'|int(-1) }} {{ 3.99|int }} {{ '0x1f'|int(0, 16) }} {{ '101'|int(base=2) }} {{ t|int }} {{ none|int }} {{ -3.7|int }} {{ ' 5 '|int }}",
    "{{ '1.5'|float }} {{ 'x'|float }} {{ 'x'|float(2.5) }} {{ 3|float }} {{ '1e3'|float }} {{ -5|abs }} {{ -1.5|abs }}",
    "{{ 1|filesizeformat }} {{ 999|filesizeformat }} {{ 1000|filesizeformat }} {{ 1234567|filesizeformat }} {{ 1234567|filesizeformat(true) }} {{ 1e30|filesizeformat }} {{ 0|filesizeformat }} {{ '13000'|filesizeformat }}",
    # lists
    "{{ numbers|sum }} {{ rows|sum(attribute='age') }} {{ rows|sum('age', 100) }} {{ [0.5, 1]|sum }} {{ []|sum }} {{ [[1], [2]]|sum(start=[]) }}",
    "{{ numbers|min }} {{ numbers|max }} {{ rows|max(attribute='age') }} {{ ['b', 'A', 'c']|min }} {{ ['b', 'A', 'c']|max(case_sensitive=true) }} {{ []|max }}|",
    "{{ numbers|sort }} {{ numbers|sort(reverse=true) }} {{ ['b', 'A', 'c', 'B']|sort }} {{ ['b', 'A', 'c', 'B']|sort(case_sensitive=true) }} {{ rows|sort(attribute='name')|map(attribute='name')|join(',') }}",
    "{{ rows|sort(attribute='city,age')|map(attribute='name')|list }} {{ [(2, 'b'), (1, 'c'), (2, 'a')]|sort }} {{ [(2, 'b'), (1, 'c')]|sort(attribute=1) }} {{ {'b': 1, 'a': 2}|sort }}",
    "{{ ['a', 'A', 'b', 1, 1.0, 'B']|unique|list }} {{ ['a', 'A']|unique(case_sensitive=true)|list }} {{ rows|unique(attribute='city')|map(attribute='name')|list }}",
    "{% for city, people in rows|groupby('city') %}{{ city }}: {{ people|map(attribute='name')|join(', ') }}; {% endfor %}",
    "{% for g in rows|groupby('city', case_sensitive=true) %}{{ g.grouper }}={{ g.list|length }} {% endfor %}{{ [{'k': 1}, {}]|groupby('k', default=0) }}",
    "{% for row in rows|groupby(attribute='tags.0', default='-') %}{{ row[0] }}{{ row[1]|length }} {% endfor %}",
    "{{ [1, 2, 3, 4, 5]|batch(2)|list }} {{ [1, 2, 3]|batch(2, 'x')|list }} {{ 'abcde'|batch(2)|list }} {{ []|batch(2)|list }}",
    "{{ range(7)|slice(3)|list }} {{ range(7)|slice(3, 'x')|list }} {{ [1]|slice(3)|list }}",
    "{% for line in numbers|batch(2, '-') %}{{ line|join(' ') }}\n{% endfor %}",
    "{{ rows|map(attribute='name')|list }} {{ rows|map(attribute='tags.0', default='none')|list }} {{ ['a', 'b']|map('upper')|join }} {{ ['x', 'y']|map('replace', 'x', 'z')|list }} {{ [1.25, 2.5]|map('round', precision=1)|list }}",
    "{{ numbers|select('odd')|list }} {{ numbers|reject('odd')|list }} {{ numbers|select('>', 1)|list }} {{ [0, 1, '', 'a', none]|select|list }} {{ [0, 1, '']|reject|list }} {{ numbers|select('in', [1, 2])|list }}",
    "{{ rows|selectattr('age', '>', 28)|map(attribute='name')|list }} {{ rows|selectattr('age', 'ge', 30)|list|length }} {{ rows|rejectattr('age', 'lt', 30)|map(attribute='name')|list }} {{ rows|selectattr('tags')|map(attribute='name')|list }}",
    "{{ rows|selectattr('city', 'equalto', 'Oslo')|map(attribute='name')|list }} {{ rows|selectattr('name', 'in', ['ann', 'Bob'])|list|count }} {{ rows|rejectattr('nothing', 'defined')|list|length }} {{ rows|selectattr('tags.0', 'defined')|list|length }} {{ rows|selectattr('age', 'divisibleby', 5)|list|length }}",
    "{{ numbers|join(', ') }} {{ rows|join(', ', attribute='name') }} {{ 'abc'|join('-') }} {{ o|join }} {{ [none, 1.0, true]|join(';') }} {{ []|join(',') }}|",
    "{{ numbers|first }} {{ numbers|last }} {{ []|first }}|{{ numbers|length }} {{ o|count }} {{ 'abc'|count }} {{ o|list }} {{ o|first }}",
    "{{ scores|dictsort }} {{ {'b': 1, 'a': 2}|dictsort(by='value') }} {{ {'b': 1, 'A': 2, 'a': 0}|dictsort(true) }} {{ {'b': 1, 'a': 2}|dictsort(reverse=true) }}",
    "{% for k, v in o|items %}{{ k }}{{ v }} {% endfor %}{{ missing|items|list }}",
    "{{ ''|default('d') }}|{{ ''|d('e', true) }} {{ n|default('d') }} {{ o.nothing|default('x') }} {{ 0|default(1, boolean=true) }}",
    "{{ o|attr('k') }}|{{ 'a'|attr('nothing') }}|",
    # tests
    "{{ x is defined }} {{ z is undefined }} {{ z is not defined }} {{ n is none }} {{ i is odd }} {{ i is even }} {{ i is not even }}",
    "{{ 9 is divisibleby(3) }} {{ 10 is divisibleby 3 }} {{ i is not divisibleby(7) }} {{ 6 is divisibleby(by=2) if false else 6 is divisibleby(2) }}",
    "{{ i is eq 7 }} {{ i is ne(7) }} {{ i is lt 8 }} {{ i is le 7 }} {{ i is gt 7 }} {{ i is ge 7 }} {{ i is greaterthan 6 }} {{ i is lessthan 6 }} {{ x is equalto 'X y' }} {{ i is sameas 7 }} {{ t is sameas true }}",
    "{{ x is string }} {{ i is number }} {{ t is number }} {{ t is boolean }} {{ i is integer }} {{ f is float }} {{ whole is integer }} {{ t is integer }} {{ i is boolean }} {{ n is number }}",
    "{{ o is mapping }} {{ numbers is mapping }} {{ numbers is sequence }} {{ x is sequence }} {{ o is sequence }} {{ o is iterable }} {{ i is iterable }} {{ numbers is iterable }} {{ range(2) is iterable }}",
    "{{ 'abc' is lower }} {{ 'ABC' is upper }} {{ 'aB' is lower }} {{ '1' is lower }} {{ t is true }} {{ t is false }} {{ 1 is true }} {{ false is false }}",
    "{{ 1 is in numbers }} {{ 'a' is in 'abc' }} {{ 9 is not in numbers }} {{ html|e is escaped }} {{ html is escaped }} {{ range is callable }} {{ x is callable }}",
    "{{ 'upper' is filter }} {{ 'nothing' is filter }} {{ 'odd' is test }} {{ 'nothing' is test }}",
    "{{ i is odd and i is gt 5 }} {{ not i is odd }} {{ (i is odd) == true }} {{ i is odd or x }} {{ 'a' if i is odd else 'b' }} {{ i + 1 is even }}",
    "{% if rows is iterable and rows is not string %}list{% endif %}{% if o.k is defined and o.k is eq 1 %} one{% endif %}",
    # methods
    "{{ x.upper() }} {{ x.lower() }} {{ ' a '.strip() }}| {{ 'xxa'.lstrip('x') }} {{ 'axx'.rstrip('x') }} {{ 'hello world'.title() }} {{ 'hELLO'.capitalize() }} {{ 'aB'.swapcase() }}",
    "{{ 'a,b,c'.split(',') }} {{ 'a,b,c'.split(',', 1) }} {{ ' a  b c '.split() }} {{ ' a  b c '.split(none, 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ lines.splitlines() }} {{ 'a-b-c'.partition('-') }} {{ 'a-b-c'.rpartition('-') }}",
    "{{ 'abc'.startswith('a') }} {{ 'abc'.endswith(('c', 'd')) }} {{ 'abcabc'.find('c') }} {{ 'abcabc'.rfind('c') }} {{ 'abc'.find('z') }} {{ 'banana'.count('a') }} {{ 'abc'.index('b') }}",
    "{{ 'aXb'.replace('X', '-') }} {{ 'aaa'.replace('a', 'b', 1) }} {{ ', '.join(['a', 'b']) }} {{ '5'.zfill(3) }} {{ 'a'.center(5, '*') }} {{ 'a'.ljust(3) }}|{{ 'a'.rjust(3) }}|",
    "{{ '12'.isdigit() }} {{ 'a1'.isalnum() }} {{ 'ab'.isalpha() }} {{ ' '.isspace() }} {{ 'AB'.isupper() }} {{ 'ab'.islower() }} {{ 'prefix-a'.removeprefix('prefix-') }} {{ 'a.txt'.removesuffix('.txt') }}",
    "{{ o.get('k') }} {{ o.get('z') }} {{ o.get('z', 5) }} {{ o.items()|list }} {{ o.keys()|list }} {{ o.values()|list|length }} {{ numbers.index(1) }} {{ numbers.count(3) }}",
    # what a prompt looks like
    "You are {{ role or 'an assistant' }}.\n{% for m in messages[1:] -%}\n<|{{ m.role }}|>{{ m.content|trim }}\n{% endfor %}",
    "{%- for row in rows|sort(attribute='age', reverse=true) %}\n{{ '%2d'|format(loop.index) }}. {{ row.name|capitalize|center(8) }}|{{ row.tags|join('/')|default('-', true) }}\n{%- endfor %}",
    "{% set shots = rows|map(attribute='name')|map('upper')|list %}{{ shots|length }} shots: {{ shots|join(' | ') }}{% if shots is not sequence %}!{% endif %}",
    "| name | age |\n{% for r in rows %}| {{ r.name }} | {{ r.age }} |{% if not loop.last %}\n{% endif %}{% endfor %}",
    # what is an error in Jinja2, too
    "{{ missing.a }}",
    "{{ o.nothing.deeper }}",
    "{{ x + 1 }}",
    "{{ 1 / 0 }}",
    "{{ [1] < 2 }}",
    "{{ missing + 1 }}",
    "{{ missing() }}",
    "{{ missing|int }}",
    "{{ 5|first }}",
    "{{ 5|length }}",
    "{{ x|nothing_known }}",
    "{{ x is nothing_known }}",
    "{% nothing %}",
    "{% if x %}",
    "{{ x",
    "{{ }}",
    "{{ 1 + }}",
    "{% for a in 5 %}{% endfor %}",
    "{% for a, b in [1] %}{% endfor %}",
    "{% set none = 1 %}",
    "{{ m(1) }}",
    "{{ 'abc'|batch }}",
    "{{ x|upper(1) }}",
    "{{ missing|tojson }}",
    "{{ range }}{{ x.nothing() }}",
    "{{ [3, 'a']|sort }}",
    "{{ {[]: 1} }}",
    "{% include 'a' %}",
    "{% extends 'a' %}",
    "{{ x|truncate(2) }}",
    "{{ 'a' is divisibleby 2 }}",
    "{{ 1 is odd is even }}",
]


def rendered(environment, template):
    try:
        return {"template": template, "rendered": environment.from_string(template).render(VARIABLES)}
    except Exception as error:  # whatever Python raises, a template that cannot be rendered is one
        return {"template": template, "error": type(error).__name__}


def main():
    environment = SandboxedEnvironment()
    cases = [rendered(environment, template) for template in TEMPLATES]
    with open(TARGET, "w", encoding="utf-8") as file:
        json.dump(
            {"jinja2": jinja2.__version__, "variables": VARIABLES, "cases": cases},
            file,
            ensure_ascii=False,
            indent=2,
        )
        file.write("\n")
    print(f"{len(cases)} templates, {sum('error' in case for case in cases)} of them errors: {TARGET} is written")


main()
