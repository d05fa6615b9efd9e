import { expect } from 'chai'
import fc from 'fast-check'
import { type JsonObject, isJsonObject } from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { RenderBudget } from '../../../../src/run/templates/render-budget.ts'
import { renderTemplate } from '../../../../src/run/templates/render-template.ts'
import {
  TEMPLATE_FORMATS,
  TemplateFailure,
  type TemplateFormat,
} from '../../../../src/run/templates/template-format.ts'
import { arbitraryJson } from '../../../support/values/arbitrary-json.ts'

const VARIABLES = variables(
  '{"x": "X", "n": null, "t": true, "f": 1.0, "big": 12345678901234567890, "o": {"a": {"b": "deep"}, "é": 1.0},' +
    '"l": [{"k": "v"}, 2], "a.b": "dotted", "html": "<b>&\\"", "empty": [], "none": {}, "zero": 0, "false": false,' +
    '"text": "{{x}} {x}", "__proto__": "own"}',
)

/** What a template becomes in each format; an Error stands for a failure whose message holds the error's. */
type Row = readonly [construct: string, format: TemplateFormat, template: string, result: string | Error]

const no = (message = ''): Error => new Error(message)

/** Contract/handlers 3.1, cell by cell. */
const TABLE: readonly Row[] = [
  ['a name', 'curly', '{{x}} {{ x }} {{\n x\n}}', 'X X X'],
  ['a name', 'mustache', '{{x}} {{ x }} {{\n x\n}}', 'X X X'],
  ['a name', 'fstring', '{x} {{x}}', 'X {x}'],
  ['a name', 'jinja2', '{{x}} {{ x }} {{\n x\n}}', 'X X X'],

  [
    'a missing variable',
    'curly',
    '{{z}} {{x}} {{ a }} {{z}}',
    no('Unreplaced variables in curly template: [\'a\', \'z\']. There are the variables "x", "n", '),
  ],
  ['a missing variable', 'mustache', '[{{z}}]', '[]'],
  ['a missing variable', 'fstring', '{z}', no('The variable \'z\' is missing. There are the variables "x"')],
  ['a missing variable', 'jinja2', '[{{ z }}]', '[]'],
  ['an attribute of what is missing', 'jinja2', '{{ z.a }}', no("'z' is missing")],
  ['an attribute of what is missing', 'jinja2', '{{ o.z.y }}', no("'o.z' is missing")],
  ['a missing attribute', 'jinja2', '[{{ o.z }}]', '[]'],

  ['null', 'curly', '{{n}}', 'null'],
  ['null', 'mustache', '[{{n}}]', '[]'],
  ['null', 'fstring', '{n}', 'None'],
  ['null', 'jinja2', '{{n}}', 'None'],

  ['booleans and numbers', 'curly', '{{t}} {{false}} {{f}} {{big}}', 'true false 1.0 12345678901234567890'],
  ['a boolean and numbers', 'mustache', '{{t}} {{f}} {{big}}', 'True 1.0 12345678901234567890'],
  ['a boolean and numbers', 'fstring', '{t} {f} {big}', 'True 1.0 12345678901234567890'],
  ['a boolean and numbers', 'jinja2', '{{t}} {{f}} {{big}}', 'True 1.0 12345678901234567890'],

  ['an object or array', 'curly', '{{o}} {{l}}', '{"a": {"b": "deep"}, "é": 1.0} [{"k": "v"}, 2]'],
  ['an object or array', 'mustache', '{{o}} {{l}}', '{"a": {"b": "deep"}, "é": 1.0} [{"k": "v"}, 2]'],
  ['an object or array', 'fstring', '{o} {l}', "{'a': {'b': 'deep'}, 'é': 1.0} [{'k': 'v'}, 2]"],
  ['an object or array', 'jinja2', '{{ o }} {{ l }}', "{'a': {'b': 'deep'}, 'é': 1.0} [{'k': 'v'}, 2]"],
  ['an object or array', 'jinja2', '{{ o|tojson }}', String.raw`{"a": {"b": "deep"}, "\u00e9": 1.0}`],
  ['an object or array', 'jinja2', '{{ o|tojson(ensure_ascii=false) }}', '{"a": {"b": "deep"}, "é": 1.0}'],
  ['a name in another script', 'jinja2', '{{ o.é }} {{ o["é"] }}{{ größe }}', '1.0 1.0'],

  ['a dotted path', 'curly', '{{o.a.b}} {{l.0.k}}', 'deep v'],
  ['a dotted path', 'mustache', '{{o.a.b}} {{l.0.k}}', 'deep v'],
  ['a dotted path', 'fstring', '{o.a}', no('brackets')],
  ['a dotted path', 'jinja2', '{{ o.a.b }} {{ l[0].k }}', 'deep v'],

  ['a key with a dot', 'curly', '{{a.b}}', 'dotted'],
  ['a key with a dot', 'mustache', '[{{a.b}}]', '[]'],
  ['a key with a dot', 'fstring', '{a.b}', no()],
  ['a key with a dot', 'jinja2', '{{ a.b }}', no()],

  ['a bracket path', 'curly', '{{l[0]}}', no('l[0]')],
  ['a bracket path', 'mustache', '[{{l[0]}}]', '[]'],
  ['a bracket path', 'fstring', '{o[a][b]} {l[0][k]}', 'deep v'],
  ['a bracket path', 'jinja2', '{{ l[0] }}', "{'k': 'v'}"],

  ['a JSONPath', 'curly', '{{$.l[0]}} {{ $.o.a.b }}', '{"k": "v"} deep'],
  ['a JSONPath', 'mustache', '{{$.l[0]}} {{ $.o.a.b }} {{{$.o.a.b}}}', '{"k": "v"} deep deep'],
  ['a JSONPath', 'fstring', '{$.l[0]}', no()],
  ['a JSONPath', 'jinja2', '{{$.l[0]}} {{ $.o.a.b }} a {{- $.x -}} b', '{"k": "v"} deep aXb'],

  ['a JSONPath that fails', 'curly', '{{$.z}}', no("['$.z']")],
  ['a JSONPath that fails', 'mustache', '{{$.z}}', no('{{$.z}} finds nothing')],
  ['a JSONPath that fails', 'jinja2', '{{$.z}}', no('{{$.z}} finds nothing')],

  ['a JSON Pointer', 'curly', '{{/l/0/k}}', 'v'],
  ['a JSON Pointer', 'mustache', '{{/l/0}}', no()],
  ['a JSON Pointer', 'fstring', '{/l/0}', no()],
  ['a JSON Pointer', 'jinja2', '{{/l/0}}', no()],

  ['a section', 'curly', '{{#l}}a{{/l}}', no()],
  ['a section', 'mustache', '{{#l}}<{{k}}{{x}}>{{/l}}{{#o}}{{a.b}}{{/o}}{{#t}}!{{/t}}', '<vX><X>deep!'],
  ['an inverted section', 'mustache', '{{^empty}}a{{/empty}}{{^t}}b{{/t}}{{^z}}c{{/z}}', 'ac'],
  [
    'a falsy section',
    'mustache',
    '{{#n}}a{{/n}}{{#false}}b{{/false}}{{#zero}}c{{/zero}}{{#empty}}d{{/empty}}{{#none}}e{{/none}}',
    '',
  ],
  ['a section on lines of its own', 'mustache', 'a\n{{#l}}\n- {{k}}\n{{/l}}\nb', 'a\n- v\n- \nb'],
  ['a comment', 'curly', '{{! c }}', no()],
  ['a comment', 'mustache', 'a{{! c }}b', 'ab'],
  ['a comment', 'jinja2', 'a{# {{$.z}} #}b', 'ab'],
  ['text with markup', 'mustache', '{{html}} {{{html}}} {{&html}}', '<b>&" <b>&" <b>&"'],
  ['three braces', 'curly', '{{{x}}} {{{{x}}}} {{{x} }} {{ {x}}', '{X} {{X}} {{{x} }} {{ {x}}'],
  ['an escape', 'curly', String.raw`\{{x}} \{{ \{{{x}}}`, '{{x}} {{ {{{x}}}'],
  [
    'backslashes before a variable',
    'curly',
    String.raw`\\{{x}} \\\{{x}} \\\\{{x}}`,
    String.raw`\X \{{x}} \\X`,
  ],
  [
    'backslashes elsewhere',
    'curly',
    String.raw`\ \n \\ \x{{x}}\ \\{{ \{x}`,
    String.raw`\ \n \\ \xX\ \\{{ \{x}`,
  ],
  [
    'no name',
    'curly',
    '{{x{}} {{"x"}} {{x\ny}} {{ {"a": {{x}}} }}',
    '{{x{}} {{"x"}} {{x\ny}} {{ {"a": X} }}',
  ],
  ['what stands behind no name', 'curly', '{{ {{x}} {{\n\n', '{{ X {{\n\n'],
  ['other delimiters', 'mustache', '{{=<% %>=}}<% x %> {{x}}', 'X {{x}}'],

  ['a partial', 'curly', '{{>x}}', no()],
  ['a partial', 'mustache', '{{>x}}', no('partial')],
  ['an empty tag', 'curly', '{{}}', no()],
  ['an empty tag', 'mustache', '{{}}', no('empty')],

  ['an unterminated tag', 'curly', 'a {{x', 'a {{x'],
  ['an unterminated tag', 'mustache', '{{x', no()],
  ['an unterminated tag', 'fstring', '{x', no('{{ for a brace')],
  ['an unterminated tag', 'fstring', 'x}', no('}} for a brace')],
  ['an unterminated tag', 'jinja2', '{{ x', no()],

  ['a dot', 'curly', '{{.}}', no()],
  ['a dot', 'mustache', '{{#o}}{{.}}{{/o}} {{#l}}{{.}}{{/l}}', '{"a": {"b": "deep"}, "é": 1.0} {"k": "v"}2'],

  ['what was put in', 'curly', '{{text}}', '{{x}} {x}'],
  ['what was put in', 'mustache', '{{text}}', '{{x}} {x}'],
  ['what was put in', 'fstring', '{text}', '{{x}} {x}'],
  ['what was put in', 'jinja2', '{{text}}', '{{x}} {x}'],
  ['NUL', 'mustache', 'a\0', no('NUL')],
  ['NUL', 'jinja2', 'a\0', no('NUL')],
  ['a newline at the end', 'jinja2', '{{x}}\n\n', 'X\n'],
  ['a raw block', 'jinja2', '{% raw %}{{ x }} {{$.z}} {# #}{% endraw %}', '{{ x }} {{$.z}} {# #}'],
  ['a raw block', 'jinja2', 'a {%- raw -%} b {% endraw %} c', 'ab  c'],

  ['an own __proto__', 'curly', '{{__proto__}}', 'own'],
  ['an own __proto__', 'mustache', '{{__proto__}}', 'own'],
  ['an own __proto__', 'fstring', '{__proto__}', 'own'],
  ['an own __proto__', 'jinja2', '{{ __proto__ }}', 'own'],
  ['something inherited', 'curly', '{{constructor}}', no()],
  ['something inherited', 'mustache', '[{{constructor}}{{o.constructor}}{{x.length}}{{toString}}]', '[]'],
  ['something inherited', 'fstring', '{o[constructor]}', no()],
  ['something inherited', 'jinja2', '[{{ constructor }}{{ o.constructor }}{{ x.__class__ }}]', '[]'],
]

describe('prompts: templates', () => {
  for (const format of TEMPLATE_FORMATS) {
    // interface 11.21, 11.22
    it(`renders ${format} as its table says`, () => {
      for (const [construct, ofFormat, template, result] of TABLE) {
        if (ofFormat !== format) continue
        const what = `${construct}: ${template}`
        if (typeof result === 'string')
          expect(renderTemplate(format, template, VARIABLES), what).to.equal(result)
        else
          expect(() => renderTemplate(format, template, VARIABLES), what).to.throw(
            TemplateFailure,
            result.message,
          )
      }
    })

    it(`never throws anything but a template failure of ${format}, whatever the template`, () => {
      const pieces = fc.constantFrom(...PIECES, '\n', ' ', 'a.b', "'", '"', '}', '{', '[', ']', '!', ':', '|')
      const templates = fc.array(fc.oneof(pieces, fc.string({ maxLength: 4 })), { maxLength: 12 })
      fc.assert(
        fc.property(templates, arbitraryJson, (parts, json) => {
          const given = isJsonObject(json) ? json : VARIABLES
          try {
            expect(renderTemplate(format, parts.join(''), given)).to.be.a('string')
          } catch (error) {
            expect(error).to.be.instanceOf(TemplateFailure)
          }
        }),
        { numRuns: 500 },
      )
    })

    it(`limits what ${format} renders to`, () => {
      const placeholder = format === 'fstring' ? '{x}' : '{{x}}'
      const long: JsonObject = { x: 'x'.repeat(100_000) }
      expect(() => renderTemplate(format, placeholder.repeat(100), long)).to.throw(TemplateFailure)
      expect(renderTemplate(format, placeholder.repeat(50), long)).to.have.length(5_000_000)
      expect(() => renderTemplate(format, 'a'.repeat(1024 * 1024 + 1), {})).to.throw(
        TemplateFailure,
        'Pass long texts',
      )
    })
  }

  it('shows the names of a row in quotes where one is missing', () => {
    const row: JsonObject = {
      ' col2': 1,
      ...Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`c${n}`, n])),
    }
    expect(() => renderTemplate('curly', '{{col2}}', row)).to.throw(
      TemplateFailure,
      /^Unreplaced variables in curly template: \['col2'\]\. There are the variables " col2", "c0", .*"c28" and 11 more\.$/,
    )
    expect(() => renderTemplate('curly', '{{x}}', {})).to.throw(
      TemplateFailure,
      "['x']. There are no variables.",
    )
  })

  it('looks for variables in time that grows with a curly template', () => {
    // the clock of a budget would stop anything quadratic
    for (const piece of ['{{', '{{{', '{{a"', '\\{', '\\\\', '{{a}', '{{ ', '\\{{\n'])
      expect(renderTemplate('curly', piece.repeat(200_000), {}, new RenderBudget(20_000))).to.be.a('string')
  })

  it('stops what no count can stop', () => {
    // where a line may be broken is found by an expression that looks at every dash from every other
    const render = (): string =>
      renderTemplate('jinja2', `{{ "a${'-'.repeat(100_000)}"|wordwrap }}`, {}, budget)
    const budget = new RenderBudget(50)
    expect(render).to.throw(TemplateFailure, 'more than 50 ms')
    // nothing is left for another template
    expect(() => renderTemplate('curly', 'a', {}, budget)).to.throw(TemplateFailure, 'more than 50 ms')
  })

  it('lets one budget serve many templates', () => {
    const budget = new RenderBudget()
    const long = { x: 'x'.repeat(5_000_000) }
    renderTemplate('curly', '{{x}}', long, budget)
    expect(() => renderTemplate('mustache', '{{x}}', long, budget)).to.throw(TemplateFailure, 'too long')
  })
})

/** Pieces that templates are made of. */
const PIECES = [
  ...[
    '{{',
    '}}',
    '{{{',
    '{{#l}}',
    '{{/l}}',
    '{{^x}}',
    '{{x}}',
    '{{$.l',
    '{{>',
    '{x',
    '!r',
    ':>5',
    '{{=',
    '=}}',
    '{{/l/0}}',
  ],
  ...[
    '{%',
    '%}',
    '{% for i in l %}',
    '{% endfor %}',
    '{% if x %}',
    '{% raw %}',
    '{% endraw %}',
    '{#',
    '#}',
    '|join',
    '|tojson',
  ],
  ...[
    '{% set y = x %}',
    '{{ x.',
    '(',
    ')',
    '~',
    '==',
    '__proto__',
    'constructor',
    '|replace("", x)',
    'range(3)',
    '{% macro m() %}',
  ],
]

function variables(text: string): JsonObject {
  const parsed = parseJson(text)
  if (!isJsonObject(parsed)) throw new Error('the variables of this test are an object')
  return parsed
}
