import { expect } from 'chai'
import type { FailureId } from '../../../../src/run/handlers/handler-failure.ts'
import type { Json } from '../../../../src/base/json/json.ts'
import { exact, exactObject, failureOf, runEvaluator, type Given } from './run-evaluator.ts'

/** What evaluators make of what they are given (interface 11.3): what is given, what comes of it. */
type Row = readonly [why: string, given: Given, expected: Json | Failed]

interface Failed {
  readonly fails: FailureId
  /** What the message names. */
  readonly at: string
}

const fails = (id: string, at: string): Failed => ({ fails: `v0:schemas:${id}` as FailureId, at })

const YES = { success: true }
const NO = { success: false }
const no = (reason: string): Json => ({ success: false, reason })
const NOTHING = {}
/** So many that none of them is frequent. */
const LETTERS = String.fromCodePoint(...Array.from({ length: 150 }, (_, index) => 0x4e00 + index))

describe('handlers: evaluators', () => {
  table('echo', [
    ['answers its input', { inputs: { aloha: [1, 'x'], other: 2 } }, { got: [1, 'x'] }],
    ['null if it is missing', { inputs: NOTHING }, { got: null }],
    ['null without inputs', NOTHING, { got: null }],
  ])

  table('auto_exact_match', [
    ['the same string', answered('Oslo', 'Oslo'), YES],
    ['another string', answered('oslo', 'Oslo'), NO],
    ['case, where it does not count', answered('oslo', 'OSLO', { case_sensitive: false }), YES],
    ['objects whatever the order of keys', answered({ a: 1, b: [2] }, { b: [2], a: 1 }), YES],
    ['objects that differ', answered({ a: 1 }, { a: 2 }), NO],
    ['numbers by their value', answered(exact('{"a":1.0}'), { a: 1 }), YES],
    ['true is no number here', answered({ a: true }, { a: 1 }), NO],
    [
      'nor is it by itself',
      answered(true, 1),
      no('The types differ: the output is the boolean true, the expected output is the number 1.'),
    ],
    ['objects without case', answered({ A: 'X' }, { a: 'x' }, { case_sensitive: false }), YES],
    [
      'the text of an object is another thing',
      answered('{"a":1}', { a: 1 }),
      no(
        'The types differ: the output is the text "{\\"a\\":1}", the expected output is the object {"a":1}.',
      ),
    ],
    [
      'a text and the number it spells',
      answered('5', 5),
      no('The types differ: the output is the text "5", the expected output is the number 5.'),
    ],
    ['equal numbers', answered(exact('1.0'), 1), YES],
    ['many digits', answered(exact('12345678901234567890'), exact('12345678901234567890')), YES],
    ['other digits', answered(exact('12345678901234567890'), exact('12345678901234567891')), NO],
    ['equal arrays', answered(['x', [1]], ['x', [exact('1.0')]]), YES],
    ['arrays in another order', answered([1, 2], [2, 1]), NO],
    ['arrays without case', answered(['X'], ['x'], { case_sensitive: false }), YES],
    [
      'a text and an array that print alike without case',
      answered('["x"]', ['x'], { case_sensitive: false }),
      no('The types differ: the output is the text "[\\"x\\"]", the expected output is the array ["x"].'),
    ],
    ['null', answered(null, null), YES],
    [
      'no outputs are null',
      { inputs: { correct_answer: 'x' } },
      no('The types differ: the output is null, the expected output is the text "x".'),
    ],
    ['another key', { parameters: { correct_answer_key: 'k' }, inputs: { k: 'x' }, outputs: 'x' }, YES],
    [
      'any key',
      {
        parameters: { correct_answer_key: '__proto__' },
        inputs: exactObject('{"__proto__":"x"}'),
        outputs: 'x',
      },
      YES,
    ],
    [
      'no key is the usual one',
      { parameters: { correct_answer_key: null }, inputs: { correct_answer: 'x' }, outputs: 'x' },
      YES,
    ],
    ['no inputs', { outputs: 'x' }, fails('invalid-inputs', "Expected 'dict'")],
    ['no answer', { inputs: { other: 1 }, outputs: 'x' }, fails('missing-input', "At 'correct_answer'")],
    [
      'no such answer',
      { parameters: { correct_answer_key: 'k' }, inputs: NOTHING, outputs: 'x' },
      fails('missing-input', "At 'k'"),
    ],
    [
      'a key that is inherited',
      { parameters: { correct_answer_key: 'toString' }, inputs: NOTHING },
      fails('missing-input', "At 'toString'"),
    ],
    [
      'a key that is no string',
      { parameters: { correct_answer_key: 5 }, inputs: NOTHING },
      fails('invalid-parameter', "At 'correct_answer_key'"),
    ],
  ])

  table('auto_regex_test', [
    ['found', { parameters: { regex_pattern: 'O.lo$' }, outputs: 'In Oslo' }, YES],
    ['not found', { parameters: { regex_pattern: '^Oslo' }, outputs: 'In Oslo' }, NO],
    [
      'found and should not be',
      { parameters: { regex_pattern: 'Oslo', regex_should_match: false }, outputs: 'Oslo' },
      NO,
    ],
    [
      'not found and should not be',
      { parameters: { regex_pattern: 'Rome', regex_should_match: false }, outputs: 'Oslo' },
      YES,
    ],
    [
      'only true means that it should',
      { parameters: { regex_pattern: 'Oslo', regex_should_match: 'true' }, outputs: 'Oslo' },
      NO,
    ],
    [
      'null is absent',
      { parameters: { regex_pattern: 'Oslo', regex_should_match: null }, outputs: 'Oslo' },
      YES,
    ],
    [
      'case where it does not count',
      { parameters: { regex_pattern: 'OSLO', case_sensitive: false }, outputs: 'oslo' },
      YES,
    ],
    ['an inline flag', { parameters: { regex_pattern: '(?i)OSLO' }, outputs: 'oslo' }, YES],
    [
      'the text of an object',
      { parameters: { regex_pattern: '^{"a":1,"b":"é"}$' }, outputs: { b: 'é', a: 1 } },
      YES,
    ],
    ['an empty pattern', { parameters: { regex_pattern: '' }, outputs: '' }, YES],
    [
      'a search that is made aside',
      { parameters: { regex_pattern: '(x+x+)+y' }, outputs: `${'x'.repeat(50)}y` },
      YES,
    ],
    ['no pattern', { outputs: 'x' }, fails('missing-parameter', "At 'regex_pattern'")],
    [
      'no pattern, before the outputs are looked at',
      NOTHING,
      fails('missing-parameter', "At 'regex_pattern'"),
    ],
    [
      'a pattern that is no string',
      { parameters: { regex_pattern: 5 }, outputs: 'x' },
      fails('invalid-parameter', "Got ('int') '5'"),
    ],
    [
      'a bad pattern',
      { parameters: { regex_pattern: 'a(' }, outputs: 'x' },
      { fails: 'v0:workflows:regex-pattern-error', at: "'a('" },
    ],
    ...badOutputs({ parameters: { regex_pattern: 'a(' } }),
  ])

  table('auto_starts_with', [
    ['it does', { parameters: { prefix: 'Os' }, outputs: 'Oslo' }, YES],
    ['it does not', { parameters: { prefix: 'lo' }, outputs: 'Oslo' }, NO],
    ['an empty piece', { parameters: { prefix: '' }, outputs: '' }, YES],
    ['the text of an object', { parameters: { prefix: '{"a":' }, outputs: { b: 1, a: 2 } }, YES],
    ...caseRows('prefix', 'ÉTÉ', 'été 2024'),
    ...neededTextRows('prefix'),
  ])

  table('auto_ends_with', [
    ['it does', { parameters: { suffix: 'lo' }, outputs: 'Oslo' }, YES],
    ['it does not', { parameters: { suffix: 'Os' }, outputs: 'Oslo' }, NO],
    ['the text of an object', { parameters: { suffix: ':1}' }, outputs: { b: 1, a: 2 } }, YES],
    ...caseRows('suffix', 'ÉTÉ', 'un été'),
    ...neededTextRows('suffix'),
  ])

  table('auto_contains', [
    ['it does', { parameters: { substring: 'sl' }, outputs: 'Oslo' }, YES],
    ['it does not', { parameters: { substring: 'ls' }, outputs: 'Oslo' }, NO],
    ['a piece is not trimmed', { parameters: { substring: ' Oslo' }, outputs: 'Oslo' }, NO],
    [
      'what is not ASCII, in the text of an object',
      { parameters: { substring: 'é' }, outputs: { k: 'café' } },
      YES,
    ],
    [
      'a number as it was written',
      { parameters: { substring: '12345678901234567890' }, outputs: exact('{"k":12345678901234567890}') },
      YES,
    ],
    ...caseRows('substring', 'ÉTÉ', "l'été"),
    ...neededTextRows('substring'),
  ])

  table('auto_contains_any', [
    ['one of them', { parameters: { substrings: ['x', 'sl'] }, outputs: 'Oslo' }, YES],
    ['none of them', { parameters: { substrings: ['x', 'y'] }, outputs: 'Oslo' }, NO],
    ['pieces are trimmed', { parameters: { substrings: [' Oslo\n'] }, outputs: 'Oslo' }, YES],
    ['no pieces', { parameters: { substrings: [] }, outputs: 'Oslo' }, NO],
    [
      'case where it does not count',
      { parameters: { substrings: ['OSLO'], case_sensitive: 1 }, outputs: 'oslo' },
      YES,
    ],
    ...substringsRows(),
  ])

  table('auto_contains_all', [
    ['all of them', { parameters: { substrings: ['Os', 'lo'] }, outputs: 'Oslo' }, YES],
    ['some of them', { parameters: { substrings: ['Os', 'x'] }, outputs: 'Oslo' }, NO],
    ['no pieces', { parameters: { substrings: [] }, outputs: 'Oslo' }, YES],
    [
      'case where it does not count',
      { parameters: { substrings: ['OSLO'], case_sensitive: null }, outputs: 'oslo' },
      YES,
    ],
    ...substringsRows(),
  ])

  table('auto_contains_json', [
    ['an object amid text', { outputs: 'Here: {"a": [1, {"b": 2}]}. Enjoy {' }, YES],
    ['an object amid text, before another brace', { outputs: 'Here: {"a": 1}. Enjoy }' }, YES],
    ['two objects', { outputs: '{"a": 1} {"b": 2}' }, YES],
    ['an array', { outputs: '[1, 2]' }, YES],
    ['an array in a fence', { outputs: 'So:\n```json\n[1,\n2]\n```\nAnd { so on' }, YES],
    ['outputs that are an array', { outputs: ['x'] }, YES],
    ['an object in an array', { outputs: '[{"a": 1}]' }, YES],
    ['no numbers', { outputs: '{"a": NaN, "b": -Infinity}' }, YES],
    ['a key twice', { outputs: '{"a": 1, "a": 2}' }, YES],
    ['no JSON', { outputs: '{a: 1}' }, NO],
    ['braces the other way round', { outputs: '} {' }, NO],
    ['one brace', { outputs: '{' }, NO],
    ['nothing', { outputs: '' }, NO],
    ['an object', { outputs: NOTHING }, YES],
    ...badOutputs(NOTHING).filter(([why]) => !why.includes('an array')),
  ])

  table('field_match_test', [
    ['a field of an object', fielded('a', { a: 'x', b: 1 }, 'x'), YES],
    ['a field of the text of one', fielded('a', '{"a": "x"}', 'x'), YES],
    ['another value', fielded('a', { a: 'x' }, 'y'), NO],
    ['no such field', fielded('a', { b: 'x' }, 'x'), no('The output has no field "a".')],
    [
      'a field that is inherited',
      fielded('toString', NOTHING, 'x'),
      no('The output has no field "toString".'),
    ],
    [
      'a text and a number',
      fielded('a', { a: '5' }, 5),
      no('The types differ: the output is the text "5", the expected output is the number 5.'),
    ],
    ['true is 1', fielded('a', { a: true }, 1), YES],
    ['deep down, too', fielded('a', { a: [{ b: false }] }, [{ b: exact('0.0') }]), YES],
    ['null is a value', fielded('a', { a: null }, null), YES],
    ['null is not nothing', fielded('a', NOTHING, null), no('The output has no field "a".')],
    ['a way is no field', fielded('a.b', { a: { b: 1 } }, 1), no('The output has no field "a.b".')],
    ['a dot in a field', fielded('a.b', { 'a.b': 1 }, 1), YES],
    ['text that is no JSON', fielded('a', 'x', 'x'), fails('invalid-outputs', "Got ('str') 'x'")],
    ['text of an array', fielded('0', '["x"]', 'x'), fails('invalid-outputs', "Got ('str')")],
    ['an array', fielded('0', ['x'], 'x'), fails('invalid-outputs', "Got ('list')")],
    ['no outputs', fielded('a', null, 'x'), fails('invalid-outputs', "Got ('NoneType')")],
    [
      'no field',
      { inputs: { correct_answer: 1 }, outputs: NOTHING },
      fails('missing-parameter', "At 'json_field'"),
    ],
    ['no field, before the answer is looked at', NOTHING, fails('missing-parameter', "At 'json_field'")],
    [
      'a field that is no string',
      { parameters: { json_field: 1 } },
      fails('invalid-parameter', "At 'json_field'"),
    ],
    ...neededAnswerRows({ parameters: { json_field: 'a' } }),
  ])

  table('json_multi_field_match', [
    [
      'fields that agree and one that does not',
      fields(['a', 'b.0', 'c'], { a: 1, b: ['x'], c: 2 }, { a: 1, b: ['x'], c: 3 }),
      { a: 1, 'b.0': 1, c: 0, aggregate_score: 2 / 3 },
    ],
    [
      'every way to a field',
      fields(['$.b[0]', '/b/0', 'a.b'], { b: [1], 'a.b': 2 }, { b: [true], a: { b: 2 } }),
      { '$.b[0]': 1, '/b/0': 1, 'a.b': 1, aggregate_score: 1 },
    ],
    ['a field that both lack', fields(['x'], { a: 1 }, { a: 2 }), { x: 1, aggregate_score: 1 }],
    ['nothing and null', fields(['x'], { x: null }, { a: 2 }), { x: 1, aggregate_score: 1 }],
    [
      'a field that one lacks',
      fields(['x', '$['], { x: 1 }, { a: 2 }),
      {
        x: 0,
        '$[': 1,
        aggregate_score: 0.5,
        reason: 'At "x": The types differ: the output is the number 1, the expected output is null.',
      },
    ],
    ['texts of objects', fields(['a'], '{"a": 1}', '{"a": 1.0}'), { a: 1, aggregate_score: 1 }],
    [
      'an answer that is an array, as text',
      fields(['0'], '{"0": 1}', '[1]'),
      exact('{"0":1,"aggregate_score":1}'),
    ],
    [
      'the same field twice',
      fields(['a', 'a', 'b'], { a: 1, b: 1 }, { a: 1, b: 2 }),
      { a: 1, b: 0, aggregate_score: 2 / 3 },
    ],
    [
      'a field that is named like the score',
      fields(['aggregate_score', 'a'], { a: 1 }, { a: 2 }),
      { aggregate_score: 0.5, a: 0 },
    ],
    ['outputs that are no JSON', fields(['a'], 'x', { a: 1 }), fails('invalid-outputs', "Got ('str') 'x'")],
    ['outputs that are a number', fields(['a'], 5, { a: 1 }), fails('invalid-outputs', "Got ('int') '5'")],
    ['the text of a number', fields(['a'], '5', { a: 1 }), fails('invalid-outputs', "Got ('str') '5'")],
    ['arrays', fields(['0'], [1], '[1]'), exact('{"0":1,"aggregate_score":1}')],
    ['both null', fields(['x'], null, null), { x: 1, aggregate_score: 1 }],
    [
      'no outputs',
      fields(['a'], null, { a: 1 }),
      {
        a: 0,
        aggregate_score: 0,
        reason: 'At "a": The types differ: the output is null, the expected output is the number 1.',
      },
    ],
    ['no fields', { inputs: { correct_answer: NOTHING } }, fails('missing-parameter', "At 'fields'")],
    ['an empty list of fields', { parameters: { fields: [] } }, fails('invalid-parameter', 'non-empty list')],
    [
      'fields that are no list',
      { parameters: { fields: 'a' } },
      fails('invalid-parameter', 'non-empty list'),
    ],
    [
      'a field that is no string',
      { parameters: { fields: ['a', 1] } },
      fails('invalid-parameter', "At 'fields[1]'"),
    ],
    ['an answer that is no JSON', fields(['a'], NOTHING, 'x'), fails('invalid-input', 'its JSON text')],
    [
      'an answer that is no document',
      fields(['a'], NOTHING, true),
      fails('invalid-input', "At 'correct_answer'"),
    ],
    ...neededAnswerRows({ parameters: { fields: ['a'] } }),
  ])

  table('auto_json_diff', [
    ['a share of leaves', answered({ a: 1, b: 2 }, { a: 1, b: 3 }), { score: 0.5, success: true }],
    ['of texts', answered('{"a": 1, "b": 2}', '{"a": 1, "b": 3, "c": 4}'), { score: 1 / 3, success: false }],
    ['of arrays, as text', answered('[1, 2]', '[1, 2]'), { score: 1, success: true }],
    ['objects that hold nothing', answered(NOTHING, NOTHING), { score: 1, success: true }],
    ['arrays that hold nothing', answered([], []), { score: 1, success: true }],
    ['null', answered(null, null), { score: 1, success: true }],
    ['null in them', answered({ a: null }, '{"a": null}'), { score: 1, success: true }],
    ['arrays', answered([1, 2], [1, 3]), { score: 0.5, success: true }],
    [
      'documents of other types',
      answered([], NOTHING),
      {
        score: 0,
        success: false,
        reason: 'The types differ: the output is the array [], the expected output is the object {}.',
      },
    ],
    [
      'extra leaves',
      answered({ a: 1, b: 2 }, { a: 1 }, { predict_keys: true }),
      { score: 0.5, success: true },
    ],
    ['types only', answered({ a: 1 }, { a: 2 }, { compare_schema_only: 1 }), { score: 1, success: true }],
    [
      'keys without case',
      answered({ a: 1 }, { A: 1 }, { case_insensitive_keys: true }),
      { score: 1, success: true },
    ],
    [
      'options that are falsy',
      answered(
        { a: 1, B: 2 },
        { a: 1, b: 2 },
        { predict_keys: '', compare_schema_only: [], case_insensitive_keys: 0 },
      ),
      { score: 0.5, success: true },
    ],
    ['an answer that is no JSON', answered(NOTHING, 'x'), fails('invalid-input', "Expected 'dict, list")],
    ['outputs that are no JSON', answered('x', NOTHING), fails('invalid-outputs', "Expected 'dict, list")],
    ['outputs that are a number', answered(5, 5), fails('invalid-input', "Got ('int') '5'")],
    ['outputs that are true', answered(true, NOTHING), fails('invalid-outputs', "Got ('bool') 'true'")],
    ...neededAnswerRows(NOTHING),
    ...thresholdRows(answered({ a: 1 }, { a: 1 }), 1),
  ])

  table('auto_levenshtein_distance', [
    ['a share of edits', answered('kitten', 'sitting'), { score: 1 - 3 / 7, success: true }],
    ['nothing alike', answered('abc', 'xyz'), { score: 0, success: false }],
    ['both empty', answered('', ''), { score: 1, success: true }],
    ['one empty', answered('', 'abc'), { score: 0, success: false }],
    ['characters, not units', answered('😀', '😃'), { score: 0, success: false }],
    ['characters, not units, in the length', answered('ab😀', 'ab'), { score: 1 - 1 / 3, success: true }],
    ['texts of objects', answered({ a: 1 }, { a: 2 }), { score: 1 - 1 / 7, success: true }],
    ['an object and its text', answered({ b: 1, a: 2 }, '{"a":2,"b":1}'), { score: 1, success: true }],
    [
      'case where it does not count',
      answered('OSLO', 'oslo', { case_sensitive: false }),
      { score: 1, success: true },
    ],
    [
      'large texts, aside',
      answered('ab'.repeat(4000), 'ba'.repeat(4000)),
      { score: 1 - 2 / 8000, success: true },
    ],
    [
      'enormous texts',
      answered('ab'.repeat(500_000), 'cd'.repeat(500_000)),
      fails('invalid-outputs', '1000000 and 1000000 characters'),
    ],
    [
      'enormous texts that are nearly the same',
      answered(`${'ab'.repeat(500_000)}x${'c'.repeat(1000)}`, `${'ab'.repeat(500_000)}${'c'.repeat(1000)}`),
      { score: 1 - 1 / 1_001_001, success: true },
    ],
    ...documentRows(NOTHING),
    ...thresholdRows(answered('abc', 'abc'), 1),
  ])

  table('auto_similarity_match', [
    ['the larger part', answered('Paros', 'Paris'), { score: 0.8, success: true }],
    ['blocks in order', answered('bcde', 'abcd'), { score: 0.75, success: true }],
    ['one way', answered('tide', 'diet'), { score: 0.25, success: false }],
    ['and the other', answered('diet', 'tide'), { score: 0.5, success: true }],
    ['both empty', answered('', ''), { score: 1, success: true }],
    [
      'case where it does not count',
      answered('OSLO', 'oslo', { case_sensitive: 'true' }),
      { score: 1, success: true },
    ],
    [
      'its own threshold',
      answered('Paros', 'Paris', { similarity_threshold: 0.9 }),
      { score: 0.8, success: false },
    ],
    [
      'the usual threshold goes first',
      answered('Paros', 'Paris', { similarity_threshold: 0.9, threshold: 0.8 }),
      { score: 0.8, success: true },
    ],
    [
      'unless it is falsy',
      answered('Paros', 'Paris', { similarity_threshold: 0.9, threshold: 0 }),
      { score: 0.8, success: false },
    ],
    [
      'its own threshold, wrong',
      answered('a', 'b', { similarity_threshold: 'x' }),
      fails('invalid-parameter', "At 'threshold'"),
    ],
    [
      'large texts, aside',
      answered(`${'x'.repeat(20_000)}y`, `z${'x'.repeat(20_000)}`),
      { score: 0, success: false },
    ],
    [
      'enormous texts',
      answered('a'.repeat(3_000_000), 'b'.repeat(1_000_001)),
      fails('invalid-outputs', '3000000 and 1000001 characters'),
    ],
    [
      'texts with too much in common',
      answered(LETTERS.repeat(600), LETTERS.slice(30).repeat(800)),
      fails('invalid-outputs', '90000 and 96000 characters'),
    ],
    ...documentRows(NOTHING),
    ...thresholdRows(answered('abc', 'abc'), 1),
  ])
})

function table(key: string, rows: readonly Row[]): void {
  describe(key, () => {
    for (const [why, given, expected] of rows) {
      // interface 11.3, 11.4, 11.5, 11.6, 11.7, 11.8, 11.10
      it(`${why}${isFailed(expected) ? ` fails with ${expected.fails}` : ''}`, async () => {
        if (!isFailed(expected)) {
          expect(await runEvaluator(key, given)).to.deep.equal(expected)
          return
        }
        const failure = await failureOf(key, given)
        expect(failure.id).to.equal(expected.fails)
        expect(failure.message).to.contain(expected.at)
      })
    }
  })
}

function isFailed(expected: Json | Failed): expected is Failed {
  return typeof expected === 'object' && expected !== null && 'fails' in expected
}

function answered(outputs: Json, answer: Json, parameters = {}): Given {
  return { outputs, inputs: { correct_answer: answer }, parameters }
}

function fielded(field: string, outputs: Json, answer: Json): Given {
  return answered(outputs, answer, { json_field: field })
}

function fields(names: readonly string[], outputs: Json, answer: Json): Given {
  return answered(outputs, answer, { fields: names })
}

function badOutputs(given: Given): readonly Row[] {
  const values: readonly [string, Json | undefined][] = [
    ['an array', ['x']],
    ['a number', exact('1.5')],
    ['true', true],
    ['null', null],
    ['nothing', undefined],
  ]
  return values.map(([name, outputs]) => [
    `outputs that are ${name}`,
    { ...given, outputs },
    fails('invalid-outputs', "Expected 'dict or str'"),
  ])
}

function neededTextRows(parameter: string): readonly Row[] {
  return [
    ['an empty piece', { parameters: { [parameter]: '' }, outputs: 'x' }, YES],
    ['no piece', { outputs: 'x' }, fails('missing-parameter', `At '${parameter}'`)],
    [
      'null for a piece',
      { parameters: { [parameter]: null } },
      fails('missing-parameter', `At '${parameter}'`),
    ],
    [
      'a piece that is no string',
      { parameters: { [parameter]: ['x'] } },
      fails('invalid-parameter', `At '${parameter}'`),
    ],
    ...badOutputs({ parameters: { [parameter]: 'x' } }),
  ]
}

function caseRows(parameter: string, piece: string, outputs: string): readonly Row[] {
  const row = (more: { readonly case_sensitive?: Json }, expected: Json): Row => [
    `case with ${JSON.stringify(more)}`,
    { parameters: { [parameter]: piece, ...more }, outputs },
    expected,
  ]
  return [
    row({}, NO),
    row({ case_sensitive: true }, NO),
    ...[false, 1, 'true', 'false', null, exact('1.0')].map((value) => row({ case_sensitive: value }, YES)),
  ]
}

function substringsRows(): readonly Row[] {
  return [
    ['no substrings', { outputs: 'x' }, fails('missing-parameter', "At 'substrings'")],
    [
      'substrings with commas',
      { parameters: { substrings: 'a,b' } },
      fails('invalid-parameter', "Expected 'list'"),
    ],
    [
      'a substring that is no string',
      { parameters: { substrings: ['x', 1] }, outputs: 'x' },
      fails('invalid-parameter', "At 'substrings[1]'"),
    ],
    ...badOutputs({ parameters: { substrings: [1] } }),
  ]
}

function neededAnswerRows(given: Given): readonly Row[] {
  return [
    ['no inputs', { ...given, outputs: NOTHING }, fails('invalid-inputs', "Expected 'dict'")],
    [
      'no answer',
      { ...given, inputs: NOTHING, outputs: NOTHING },
      fails('missing-input', "At 'correct_answer'"),
    ],
  ]
}

function documentRows(given: Given): readonly Row[] {
  return [
    ...neededAnswerRows(given),
    ...[1, true, null, ['x']].map((value): Row => [
      `an answer that is ${JSON.stringify(value)}`,
      answered('x', value),
      fails('invalid-input', "At 'correct_answer'"),
    ]),
    ...badOutputs({ ...given, inputs: { correct_answer: '{}' } }),
  ]
}

/** The rule T (interface 11.4), with what scores `score`. */
function thresholdRows(given: Given, score: number): readonly Row[] {
  const row = (threshold: Json, expected: Json | Failed): Row => [
    `a threshold of ${JSON.stringify(threshold)}`,
    { ...given, parameters: { threshold } },
    expected,
  ]
  const good = { score, success: true }
  return [
    ...[0, exact('0.0'), null, '', false, [], 0.5, 1, exact('1.0'), exact('1e-3')].map((value) =>
      row(value, good),
    ),
    ...['0.5', true, [0.5], { a: 1 }].map((value) =>
      row(value, fails('invalid-parameter', "Expected 'float'")),
    ),
    ...[-0.5, 1.5, 2, exact('1e400')].map((value) =>
      row(value, fails('invalid-parameter', 'float[0.0, 1.0]')),
    ),
  ]
}
