import type { PlainObject } from '../../../json/json.ts'
import type { BuiltInSchemas } from './built-in.ts'
import { closedObject } from './object-schema.ts'

/** The evaluators that compute their verdict themselves: comparison, pattern, similarity and JSON tests. */
export function evaluatorSchemas(): Readonly<Record<string, BuiltInSchemas>> {
  return {
    auto_exact_match: {
      parameters: closedObject({ correct_answer_key: advanced(answerKey) }),
      outputs: verdict,
    },
    auto_regex_test: {
      parameters: closedObject(
        {
          regex_pattern: { type: 'string', default: '', 'x-svc-type': 'regex', title: 'Pattern' },
          regex_should_match: {
            type: 'boolean',
            default: true,
            'x-svc-type': 'bool',
            title: 'Pass when the pattern is found',
          },
        },
        ['regex_pattern'],
      ),
      outputs: verdict,
    },
    field_match_test: {
      parameters: closedObject(
        {
          json_field: { type: 'string', default: '', 'x-svc-type': 'text', title: 'Field of the output' },
          correct_answer_key: advanced(answerKey),
        },
        ['json_field'],
      ),
      outputs: verdict,
    },
    json_multi_field_match: {
      parameters: closedObject(
        {
          fields: {
            type: 'array',
            items: { type: 'string' },
            default: [],
            'x-svc-type': 'fields_tags_editor',
            title: 'Fields to compare',
          },
          correct_answer_key: answerKey,
        },
        ['fields', 'correct_answer_key'],
      ),
      outputs: {
        ...closedObject({ aggregate_score: { type: 'number' } }, ['aggregate_score']),
        additionalProperties: true,
      },
    },
    auto_starts_with: textTest('prefix', { type: 'string', 'x-svc-type': 'text', title: 'Beginning' }),
    auto_ends_with: textTest('suffix', { type: 'string', 'x-svc-type': 'text', title: 'Ending' }),
    auto_contains: textTest('substring', { type: 'string', 'x-svc-type': 'text', title: 'Text to find' }),
    auto_contains_any: textTest('substrings', { ...listOfTexts, title: 'Texts of which one must be found' }),
    auto_contains_all: textTest('substrings', { ...listOfTexts, title: 'Texts that must all be found' }),
    auto_contains_json: { parameters: closedObject({}), outputs: verdict },
    auto_json_diff: {
      parameters: closedObject({
        compare_schema_only: advanced(option('Compare types instead of values')),
        predict_keys: advanced(option('Count keys that only the output has')),
        case_insensitive_keys: advanced(option('Ignore the case of keys')),
        correct_answer_key: advanced(answerKey),
      }),
      outputs: scored,
    },
    auto_levenshtein_distance: {
      parameters: closedObject({
        threshold: { type: 'number', 'x-svc-type': 'float', title: 'Lowest score that passes' },
        correct_answer_key: advanced(answerKey),
      }),
      outputs: scored,
    },
    auto_similarity_match: {
      parameters: closedObject(
        {
          similarity_threshold: {
            type: 'number',
            minimum: 0,
            maximum: 1,
            default: 0.5,
            'x-svc-type': 'float',
            title: 'Lowest score that passes',
          },
          correct_answer_key: answerKey,
        },
        ['similarity_threshold'],
      ),
      outputs: scored,
    },
    auto_semantic_similarity: {
      parameters: closedObject({ correct_answer_key: answerKey }, ['correct_answer_key']),
      outputs: scored,
    },
  }
}

/** The answer of an evaluator that only says yes or no. */
const verdict: PlainObject = closedObject({ success: { type: 'boolean' } }, ['success'])

/** The answer of an evaluator that gives a number, and whether that is enough. */
const scored: PlainObject = closedObject({ score: { type: 'number' }, success: { type: 'boolean' } })

const answerKey: PlainObject = {
  type: 'string',
  default: 'correct_answer',
  'x-svc-type': 'text',
  title: 'Input that holds the expected answer',
}

const listOfTexts: PlainObject = { type: 'array', items: { type: 'string' }, 'x-svc-type': 'tags' }

function advanced(schema: PlainObject): PlainObject {
  return { ...schema, 'x-svc-ui-advanced': true }
}

function option(title: string): PlainObject {
  return { type: 'boolean', default: false, 'x-svc-type': 'bool', title }
}

function textTest(parameter: string, schema: PlainObject): BuiltInSchemas {
  const caseSensitive = { type: 'boolean', default: true, 'x-svc-type': 'bool', title: 'Tell A from a' }
  return {
    parameters: closedObject({ [parameter]: schema, case_sensitive: caseSensitive }, [parameter]),
    outputs: verdict,
  }
}
