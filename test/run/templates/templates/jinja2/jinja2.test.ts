import { expect } from 'chai'
import { type JsonObject, isJsonObject } from '../../../../../src/base/json/json.ts'
import { parseJson } from '../../../../../src/base/json/parse-json.ts'
import { RenderBudget } from '../../../../../src/run/templates/render-budget.ts'
import { renderTemplate } from '../../../../../src/run/templates/render-template.ts'
import { TemplateFailure } from '../../../../../src/run/templates/template-format.ts'

const DOUBLED_TEXT =
  '{% set ns = namespace(s="ab") %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}'
const DOUBLED_LIST =
  '{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}'
/** A list of two lists of two lists …: small, but its text would be of 2 to the power of 40 items. */
const LAUGHS =
  '{% set ns = namespace(s=[1], other=[1]) %}{% for i in range(40) %}{% set ns.s = [ns.s, ns.s] %}' +
  '{% set ns.other = [ns.other, ns.other] %}{% endfor %}'

/** Templates that would take all time or memory. */
const HOSTILE: readonly string[] = [
  '{% for i in range(10**9) %}{% endfor %}',
  '{{ range(10**15)|length }}',
  '{{ range(0, 10**9, 1)|join }}',
  '{% for i in range(3000) %}{% for j in range(3000) %}{{ i }}{% endfor %}{% endfor %}',
  '{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}',
  '{% set l = range(50000)|list %}{% for i in l %}{% for j in l %}{% endfor %}{% endfor %}',
  '{% set _ = range(10**400, 10**400) %}{{ ("x" * 10**8)|length }}',
  '{{ text|wordwrap(1) }}',
  '{% set l = range(50000)|list %}{% for i in range(20000) %}{% set _ = l.reverse() %}{% endfor %}',
  '{% for i in range(20000) %}{% set _ = text.find("y") %}{% endfor %}',
  '{% for i in range(20000) %}{% set _ = text.upper() %}{% endfor %}',
  '{% for i in range(20000) %}{% set _ = text|length %}{% endfor %}',
  '{% for i in range(20000) %}{% set _ = text[i] %}{% endfor %}',
  '{% for i in range(20000) %}{% set _ = text|trim("x") %}{% endfor %}',
  '{% for i in range(20000) %}{% set _ = text|int %}{% endfor %}',
  '{% for i in range(20000) %}{% set _ = [text]|map("wordcount")|list %}{% endfor %}',
  '{% for i in range(20000) %}{% set _ = text is upper %}{% endfor %}',
  '{% for i in range(20000) %}{% set _ = "y" in text %}{% endfor %}',
  DOUBLED_TEXT,
  DOUBLED_LIST,
  `${LAUGHS}{{ ns.s }}`,
  `${LAUGHS}{{ ns.s|tojson }}`,
  `${LAUGHS}{{ ns.s|string }}`,
  `${LAUGHS}{{ ns.s|join }}`,
  `${LAUGHS}{{ ns.s ~ "a" }}`,
  `${LAUGHS}{{ "a" + ns.s }}`,
  `${LAUGHS}{{ ns.s == ns.other }}`,
  `${LAUGHS}{{ ns.s < ns.other }}`,
  `${LAUGHS}{{ ns.s in [ns.other] }}`,
  `${LAUGHS}{{ [ns.s, ns.other]|unique }}`,
  '{% set a = "x"|indent(100, true) %}{% set b = a|replace("", a)|replace("", a) %}{{ b|replace("", b) }}',
  '{{ text|replace("x", text) }}',
  '{{ text.replace("x", text) }}',
  '{{ text|list|join(text) }}',
  '{{ text.split("x")|length + text.split("x")|length }}',
  '{{ text|indent(10**9) }}',
  '{{ o|tojson(indent=10**9) }}',
  '{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}',
  '{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(50) }}',
  '{{ 9**9**9**9**9**9 }}',
  '{{ 9**(9**9) }}',
  '{{ 9**9999 }}',
  '{% set ns = namespace(s=9) %}{% for i in range(60) %}{% set ns.s = ns.s * ns.s %}{% endfor %}{{ ns.s }}',
  '{{ "9"|center(10**9) }}',
  '{{ "9".center(10**9) }}{{ "9".zfill(10**9) }}',
  '{{ "%1000000000s"|format(1) }}',
  '{{ "%.1000000000f"|format(1) }}',
  '{{ "x" * 10**9 }}',
  '{{ [1] * 10**9 }}',
  '{{ range(100000)|batch(1, 2)|list|tojson }}',
  '{{ [1]|slice(999999)|list|length }}',
  '{{ [1]|batch(999999, 1)|list|length }}',
  '{% set ns = namespace(s="ab") %}{% for i in range(60) %}{% set ns.s = (ns.s, ns.s)|join(ns.s) %}{% endfor %}',
  '{% set ns = namespace(s="<") %}{% for i in range(60) %}{% set ns.s = ns.s|forceescape|forceescape ~ ns.s %}{% endfor %}',
  '{% set ns = namespace(s="%") %}{% for i in range(60) %}{% set ns.s = (ns.s ~ ns.s)|urlencode %}{% endfor %}',
  '{% set l = [] %}{% for i in range(60000) %}{% set _ = l.append(l) %}{% set _ = l.append(text) %}{% endfor %}{{ l }}',
  '{% set l = [1] %}{% for i in range(60) %}{% set _ = l.extend(l) %}{% endfor %}',
  '{% set l = [] %}{% set _ = l.append(l) %}{{ l }}',
  '{% set l = [] %}{% set _ = l.append(l) %}{{ l|tojson }}',
  '{% for n in [1] recursive %}{{ loop([1]) }}{% endfor %}',
  '{% for i in range(100) %}{{ text }}{% endfor %}',
  '{% macro m() %}{{ text }}{% endmacro %}{% for i in range(100) %}{% set _ = m() %}{% endfor %}',
  '{% for i in range(60000) %}{{ text|wordcount }}{{ text|striptags }}{% endfor %}',
  '{{ text|map("replace", "x", text)|list }}',
  '{{ rows|groupby("a") }}'.replace('rows', 'text|list'),
  `{{ ${'-'.repeat(100_000)}1 }}`,
  `{{ 1${' + 1'.repeat(100_000)} }}`,
  `{{ x${'.x'.repeat(100_000)} }}`,
  `{{ x${'|e'.repeat(100_000)} }}`,
  `{{ ${'not '.repeat(100_000)}x }}`,
  `{{ "${'a'.repeat(100_000)}`,
  `{{ ${'9'.repeat(100_000)} }}`,
  `{{ ${'('.repeat(100_000)} }}`,
  `{{ ${'['.repeat(100_000)} }}`,
  '{% if x %}'.repeat(20_000),
  '{#'.repeat(50_000),
  '{% raw %}'.repeat(20_000),
  `{{$${' '.repeat(100_000)}`,
]

describe('prompts: jinja2', () => {
  it('stops hostile templates', () => {
    const given: JsonObject = { text: 'x'.repeat(200_000), o: { a: [1] } }
    for (const template of HOSTILE) {
      const what = template.slice(0, 100)
      // by counting what they make: the clock would take far longer
      const budget = new RenderBudget(20_000)
      const render = (): string => renderTemplate('jinja2', template, given, budget)
      expect(render, what).to.throw(TemplateFailure, /^(?!Rendering took)/)
    }
  })

  // interface 11.22
  it('renders what prompts are made of as Jinja2 3.1 does', () => {
    for (const [template, rendered] of COMMON) {
      expect(renderTemplate('jinja2', template, VARIABLES), template).to.equal(rendered)
    }
  })

  it('names what a template does wrong', () => {
    const failures: readonly (readonly [template: string, message: string])[] = [
      ['{{ x + 1 }}', 'join others with ~'],
      ['{{ 1 / 0 }}', 'zero'],
      ['{{ range }}', 'A function is no text'],
      ['{{ x|nothing_known }}', 'nothing_known'],
      ['{% include "a" %}', 'The tag include is not taken here'],
      ['{% autoescape true %}{% endautoescape %}', 'The tag autoescape is not taken here'],
      ['{% do x %}', 'write {% set _ = … %}'],
      ['{% mystery %}', 'There is no tag "mystery" here (line 1'],
      ['{{ rows|pprint }}', "The filter 'pprint' of Jinja2 is not there: write tojson(indent=2)."],
      ['{{ rows|random }}', "The filter 'random' of Jinja2 is not there"],
      ['{{ x|urlize }}', "The filter 'urlize' of Jinja2 is not there"],
      ['{{ lipsum() }}', 'The function lipsum of Jinja2 is not there'],
      ['{{ x.encode() }}', "'x.encode' is missing"],
      ['a\nb {{ x }\n c', 'line 2'],
      ['{{ nowhere.a }}', 'There are the variables "x", "n"'],
      ['{% set _ = numbers.append(1) %}', 'A variable cannot be changed; change a copy of it'],
      ['{% set _ = o.update({}) %}', 'A variable cannot be changed'],
    ]
    for (const [template, message] of failures) {
      expect(() => renderTemplate('jinja2', template, VARIABLES), template).to.throw(TemplateFailure, message)
    }
  })

  it('changes nothing that another template sees', () => {
    renderTemplate(
      'jinja2',
      '{% set x = 1 %}{% set ns = namespace(o) %}{% set ns.k = 5 %}{% set l = numbers.copy() %}{% set _ = l.append(4) %}',
      VARIABLES,
    )
    expect(renderTemplate('jinja2', '{{ x }} {{ none }} {{ o.k }} {{ numbers }}', VARIABLES)).to.equal(
      'X y None 1 [3, 1, 2]',
    )
  })
})

const VARIABLES = variables(
  '{"x": "X y", "n": null, "t": true, "f": 1.0, "i": 7, "o": {"a": {"b": "deep"}, "k": 1}, "numbers": [3, 1, 2],' +
    '"rows": [{"k": "v", "n": 2}, {"k": "w", "n": 1}], "words": "a,b,c", "empty": [], "lines": "a\\nb\\n\\nc"}',
)

const COMMON: readonly (readonly [template: string, rendered: string])[] = [
  ['{% for row in rows %}{{ loop.index }}{{ row.k }}{{ loop.last }} {% endfor %}', '1vFalse 2wTrue '],
  ['{% for row in rows if row.n > 1 %}{{ row.k }}{% endfor %}', 'v'],
  ['{% for k, v in o.items() %}{{ k }}={{ v }};{% endfor %}', "a={'b': 'deep'};k=1;"],
  ['{% for c in missing %}a{% else %}none{% endfor %}{% for c in "ab" %}{{ c }}.{% endfor %}', 'nonea.b.'],
  ['{% if x == "X y" and i > 5 or not t %}yes{% elif t %}b{% else %}c{% endif %}', 'yes'],
  ['{{ "yes" if empty else "no" }}', 'no'],
  ['{{ i + 1 }} {{ i / 2 }} {{ i // 2 }} {{ -7 % 3 }} {{ i ** 2 }} {{ f + 1 }}', '8 3.5 3 2 49 2.0'],
  [
    '{{ 1 == 1.0 }} {{ 1 == t }} {{ "1" == 1 }} {{ [1] == [1.0] }} {{ "a" < "b" }}',
    'True True False True True',
  ],
  ['{{ "X" in x }} {{ 3 in numbers }} {{ "k" in o }} {{ 9 not in numbers }}', 'True True True True'],
  ['{{ x ~ i ~ t ~ n ~ numbers }}', 'X y7TrueNone[3, 1, 2]'],
  ['{{ numbers|join(", ") }} {{ ",".join(["a", "b"]) }} {{ numbers|sort }}', '3, 1, 2 a,b [1, 2, 3]'],
  ['{{ numbers|first }} {{ numbers|last }} {{ numbers|length }} {{ [1]|count }} {{ []|first }}', '3 2 3 1 '],
  ['{{ x|upper }} {{ x|lower|title }} {{ missing|upper }}|{{ missing|length }}', 'X Y X Y |0'],
  ['{{ missing|default("d") }} {{ ""|d("e", true) }} {{ n|default("d") }}', 'd e None'],
  ['{{ x|replace("y", "z") }} {{ "aaa".replace("a", "b", 2) }} {{ "ab"|replace("", "-") }}', 'X z bba -a-b-'],
  [
    '{{ words.split(",") }} {{ words.split(",", 1) }} {{ " a  b c ".split() }}',
    "['a', 'b', 'c'] ['a', 'b,c'] ['a', 'b', 'c']",
  ],
  ['{{ " a  b c ".split(none, 1) }}', "['a', 'b c ']"],
  [
    '{{ rows|map(attribute="k")|join("-") }} {{ rows|sort(attribute="n")|map(attribute="k")|list }}',
    "v-w ['w', 'v']",
  ],
  ['{{ lines|indent(2) }}|{{ lines|indent(2, true, true) }}', 'a\n  b\n\n  c|  a\n  b\n  \n  c'],
  [
    '{{ o|tojson }} {{ o|tojson(sort_keys=true, indent=1) }}',
    '{"a": {"b": "deep"}, "k": 1} {\n "a": {\n  "b": "deep"\n },\n "k": 1\n}',
  ],
  [
    '{{ range(3)|list }} {{ range(1, 6, 2)|list }} {{ range(3, 0, -1)|list }}',
    '[0, 1, 2] [1, 3, 5] [3, 2, 1]',
  ],
  ['{% set y %}<{{ x }}>{% endset %}{{ y }}', '<X y>'],
  ['{% macro m(a, b=2) %}{{ a }}-{{ b }} {% endmacro %}{{ m(1) }}{{ m(t, b=3) }}', '1-2 True-3 '],
  ['{% filter upper %}a{{ x }}{% endfilter %}', 'AX Y'],
  ['{% set ns = namespace(c=0) %}{% for i in numbers %}{% set ns.c = ns.c + i %}{% endfor %}{{ ns.c }}', '6'],
  ['{{ 2.5|round }} {{ 2.675|round(2) }} {{ (0 - 1.5)|round }} {{ i|round }}', '2.0 2.67 -2.0 7'],
  ['{{ numbers|sum }} {{ [0.5, 1]|sum }} {{ numbers|min }} {{ numbers|max }} {{ []|max }}', '6 1.5 1 3 '],
  ['{{ rows|map(attribute="n")|sum }} {{ f|string ~ (numbers|sum / 3)|round(1) }}', '3 1.02.0'],
  ['{{ x is defined }} {{ z is defined }} {{ n is none }} {{ i is odd }}', 'True False True True'],
  ['a  {%- if t %} b {% endif -%}  c', 'a b c'],
  ['{% if t %}\nyes\n{% endif %}\nend', '\nyes\n\nend'],
  ['{{ x[0] }} {{ x[2:] }} {{ numbers[1:] }} {{ numbers[-1] }} {{ numbers[9] }}', 'X y [1, 2] 2 '],
]

function variables(text: string): JsonObject {
  const parsed = parseJson(text)
  if (!isJsonObject(parsed)) throw new Error('the variables of this test are an object')
  return parsed
}
