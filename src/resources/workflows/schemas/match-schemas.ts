import type { PlainObject } from '../../../json/json.ts'
import type { BuiltInSchemas } from './built-in.ts'
import { DRAFT_2020_12, openObject } from './object-schema.ts'

/** The configurable matcher: a tree of tests on the inputs, outputs and trace, and a tree of results of the same shape. */
export function matchSchemas(): BuiltInSchemas {
  return {
    parameters: {
      ...openObject(
        {
          matchers: { type: 'array', items: { $ref: '#/$defs/matcher' }, title: 'Tests' },
          score: { type: 'string', enum: ['weighted', 'min', 'max'], default: 'weighted' },
          success: { type: 'string', enum: ['all', 'any', 'threshold'], default: 'threshold' },
          threshold: { type: 'number', default: 1 },
        },
        ['matchers'],
      ),
      $defs: { matcher: matcher() },
    },
    outputs: {
      $schema: DRAFT_2020_12,
      type: 'object',
      properties: { score: { type: 'number' }, success: { type: 'boolean' } },
      required: ['score', 'success'],
      additionalProperties: { $ref: '#/$defs/result' },
      $defs: { result: { ...resultNode, additionalProperties: { $ref: '#/$defs/result' } } },
    },
  }
}

/** The result of one test: `error` is null, or why the test could not be made. Closed by those who know it is a leaf. */
export const resultNode = {
  type: 'object',
  properties: {
    success: { type: 'boolean' },
    score: { type: 'number' },
    error: { type: ['string', 'null'] },
  },
  required: ['success', 'score'],
} as const satisfies PlainObject

function matcher(): PlainObject {
  return {
    type: 'object',
    properties: {
      key: { type: 'string', default: '', description: 'Name of the result.' },
      target: {
        type: 'string',
        default: '',
        description: 'Path to what is tested: $.outputs.city, /outputs/city.',
      },
      mode: { type: 'string', enum: ['text', 'json'], default: 'text' },
      match: {
        type: 'string',
        enum: ['valid', 'exact', 'starts_with', 'ends_with', 'contains', 'regex', 'similarity', 'diff'],
        default: 'valid',
      },
      reference: { description: 'What to compare with: a value, or a path to one.' },
      references: { type: 'array', description: 'Several of them, for contains.' },
      contains: { type: 'string', enum: ['all', 'any'], default: 'all' },
      case_sensitive: { type: 'boolean', default: true },
      similarity: { type: 'string', enum: ['jaccard', 'levenshtein', 'cosine'], default: 'jaccard' },
      diff: { type: 'string', enum: ['full', 'schema', 'strict'], default: 'full' },
      threshold: { type: 'number', default: 1 },
      weight: { type: 'number', default: 1 },
      score: { type: 'string', enum: ['weighted', 'min', 'max'], default: 'weighted' },
      success: { type: 'string', enum: ['all', 'any', 'threshold'], default: 'threshold' },
      matchers: { type: 'array', items: { $ref: '#/$defs/matcher' }, description: 'Tests this one sums up.' },
    },
    additionalProperties: true,
  }
}
