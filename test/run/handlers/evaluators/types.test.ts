import { expect } from 'chai'
import { HandlerFailure } from '../../../../src/run/handlers/handler-failure.ts'
import { getKey, isJsonObject, type Json, type JsonObject, numberOf } from '../../../../src/base/json/json.ts'
import { parseJson } from '../../../../src/base/json/parse-json.ts'
import { runEvaluator } from './run-evaluator.ts'

/** One of each JSON type, and texts that look like others. */
const VALUES = [
  '"Oslo"',
  '"5"',
  '"[]"',
  '5',
  '12345678901234567890',
  'true',
  'null',
  '[]',
  '["x"]',
  '{}',
  '{"a":1}',
] as const

type Outcome = '=' | '.' | 'r' | 'o' | 'i'

/**
 * What each evaluator makes of every value (a line) with every expected value (a column): `=` passes, `.` fails, `r` fails and says why, `o`
 * and `i` are the named errors of outputs and of the expected output, which name the type.
 */
const COMPARED: Readonly<Record<string, readonly string[]>> = {
  auto_exact_match: [
    '=..rrrrrrrr',
    '.=.rrrrrrrr',
    '..=rrrrrrrr',
    'rrr=.rrrrrr',
    'rrr.=rrrrrr',
    'rrrrr=rrrrr',
    'rrrrrr=rrrr',
    'rrrrrrr=.rr',
    'rrrrrrr.=rr',
    'rrrrrrrrr=.',
    'rrrrrrrrr.=',
  ],
  auto_json_diff: [
    'iioiiiooooo',
    'iioiiiooooo',
    'ii=iiir=.rr',
    'iioiiiooooo',
    'iioiiiooooo',
    'iioiiiooooo',
    'iiriii=rrrr',
    'ii=iiir=.rr',
    'ii.iiir.=rr',
    'iiriiirrr=.',
    'iiriiirrr.=',
  ],
  auto_levenshtein_distance: [
    '=..iiiiii..',
    '.=.iiiiii..',
    '..=iiiiii..',
    'oooiiiiiioo',
    'oooiiiiiioo',
    'oooiiiiiioo',
    'oooiiiiiioo',
    'oooiiiiiioo',
    'oooiiiiiioo',
    '...iiiiii=.',
    '...iiiiii.=',
  ],
  auto_similarity_match: [
    '=..iiiiii..',
    '.=.iiiiii..',
    '..=iiiiii..',
    'oooiiiiiioo',
    'oooiiiiiioo',
    'oooiiiiiioo',
    'oooiiiiiioo',
    'oooiiiiiioo',
    'oooiiiiiioo',
    '...iiiiii=.',
    '...iiiiii.=',
  ],
  auto_semantic_similarity: [
    '=..iiiiii..',
    '.=.iiiiii..',
    '..=iiiiii..',
    'oooiiiiiioo',
    'oooiiiiiioo',
    'oooiiiiiioo',
    'oooiiiiiioo',
    'oooiiiiiioo',
    'oooiiiiiioo',
    '...iiiiii=.',
    '...iiiiii.=',
  ],
  field_match_test: [
    'ooooooooooo',
    'ooooooooooo',
    'ooooooooooo',
    'ooooooooooo',
    'ooooooooooo',
    'ooooooooooo',
    'ooooooooooo',
    'ooooooooooo',
    'ooooooooooo',
    'rrrrrrrrrrr',
    'rrr..=rrrrr',
  ],
  json_multi_field_match: [
    'iioiiiooooo',
    'iioiiiooooo',
    'ii=iii====r',
    'iioiiiooooo',
    'iioiiiooooo',
    'iioiiiooooo',
    'ii=iii====r',
    'ii=iii====r',
    'ii=iii====r',
    'ii=iii====r',
    'iiriiirrrr=',
  ],
}

/** What each evaluator that expects nothing makes of every value. */
const ALONE: Readonly<Record<string, string>> = {
  auto_contains_json: '..=oooo====',
  auto_regex_test: '==.oooooo..',
  auto_starts_with: '===oooooo==',
  auto_ends_with: '===oooooo==',
  auto_contains: '===oooooo==',
  auto_contains_any: '===oooooo==',
  auto_contains_all: '===oooooo==',
}

const PARAMETERS: Readonly<Record<string, JsonObject>> = {
  field_match_test: { json_field: 'a' },
  json_multi_field_match: { fields: ['a'] },
  auto_regex_test: { regex_pattern: '[xO5]' },
  auto_starts_with: { prefix: '' },
  auto_ends_with: { suffix: '' },
  auto_contains: { substring: '' },
  auto_contains_any: { substrings: ['', 'x'] },
  auto_contains_all: { substrings: [''] },
}

describe('handlers: evaluators and every type of JSON', () => {
  for (const [key, table] of Object.entries(COMPARED)) {
    // interface 11.3
    it(`${key} answers any two with a verdict or an error that names the type`, async () => {
      const lines = await Promise.all(
        VALUES.map(async (outputs) =>
          (await Promise.all(VALUES.map((answer) => outcomeOf(key, outputs, answer)))).join(''),
        ),
      )
      expect(lines).to.deep.equal(table)
    })
  }

  for (const [key, table] of Object.entries(ALONE)) {
    it(`${key} answers any with a verdict or an error that names the type`, async () => {
      const outcomes = await Promise.all(VALUES.map((outputs) => outcomeOf(key, outputs, 'null')))
      expect(outcomes.join('')).to.equal(table)
    })
  }
})

async function outcomeOf(key: string, outputs: string, answer: string): Promise<Outcome> {
  const value = parseJson(outputs)
  const given = {
    parameters: PARAMETERS[key] ?? {},
    inputs: { correct_answer: parseJson(answer) },
    // null in a request is absent
    outputs: value === null ? undefined : value,
  }
  try {
    return verdictOf(await runEvaluator(key, given, embed))
  } catch (error) {
    if (!(error instanceof HandlerFailure)) throw error
    expect(error.message).to.match(/Got \('(str|int|bool|list|dict|NoneType)'\)/)
    return error.code === 'invalid_outputs' ? 'o' : 'i'
  }
}

function verdictOf(outputs: Json): Outcome {
  if (!isJsonObject(outputs)) throw new Error('a verdict is an object')
  const score = numberOf(getKey(outputs, 'aggregate_score') ?? null)
  if (score === undefined ? getKey(outputs, 'success') === true : score === 1) return '='
  return getKey(outputs, 'reason') === undefined ? '.' : 'r'
}

/** Texts are alike where they are equal. */
async function embed({
  texts,
}: {
  readonly texts: readonly string[]
}): Promise<readonly (readonly number[])[]> {
  return texts[0] === texts[1]
    ? texts.map(() => [1, 0])
    : [
        [1, 0],
        [0, 1],
      ]
}
