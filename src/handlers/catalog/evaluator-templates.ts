import { codePresets } from './presets/code-presets.ts'
import { judgePresets } from './presets/judge-presets.ts'
import { regexPresets } from './presets/regex-presets.ts'
import type { TemplateDefinition } from './template-definition.ts'

const classifier = { kind: 'builtin', roles: 'evaluator', categories: ['classifiers'] } as const
const similarity = { ...classifier, categories: ['similarity'] } as const
const custom = { ...classifier, categories: ['custom'] } as const
/** Superseded by presets of the regex test; workflows that use them go on working. */
const superseded = { ...classifier, isArchived: true } as const

/** The evaluators that give a verdict on one output. */
export const evaluatorTemplates: readonly TemplateDefinition[] = [
  {
    ...classifier,
    key: 'auto_exact_match',
    name: 'Exact Match',
    description: 'Passes when the output is exactly the expected answer; of objects, in any order of keys.',
  },
  {
    ...classifier,
    key: 'auto_regex_test',
    name: 'Regex Test',
    description: 'Passes when a regular expression is found in the output, or when it is not found.',
    presets: regexPresets,
  },
  {
    ...superseded,
    key: 'field_match_test',
    name: 'JSON Field Match',
    description: 'Passes when one field of a JSON output equals the expected answer.',
  },
  {
    ...classifier,
    key: 'json_multi_field_match',
    name: 'JSON Multi-Field Match',
    description: 'Compares fields of a JSON output with the expected JSON, and counts how many are equal.',
  },
  {
    ...custom,
    key: 'auto_webhook_test',
    name: 'Webhook test',
    description: 'Asks a web address of yours for the score of the output.',
  },
  {
    ...custom,
    key: 'auto_custom_code_run',
    name: 'Code Evaluation',
    description:
      'Scores the output by source of yours in Python, JavaScript or TypeScript, run in a sandbox.',
    presets: codePresets,
  },
  {
    ...classifier,
    key: 'auto_ai_critique',
    name: 'LLM-as-a-judge',
    categories: ['ai_llm'],
    description: 'Has a language model judge the output, in the form that you ask for.',
    presets: judgePresets,
  },
  {
    ...superseded,
    key: 'auto_starts_with',
    name: 'Starts With',
    description: 'Passes when the output begins with a text.',
  },
  {
    ...superseded,
    key: 'auto_ends_with',
    name: 'Ends With',
    description: 'Passes when the output ends with a text.',
  },
  {
    ...superseded,
    key: 'auto_contains',
    name: 'Contains',
    description: 'Passes when the output contains a text.',
  },
  {
    ...superseded,
    key: 'auto_contains_any',
    name: 'Contains Any',
    description: 'Passes when the output contains at least one of several texts.',
  },
  {
    ...superseded,
    key: 'auto_contains_all',
    name: 'Contains All',
    description: 'Passes when the output contains each of several texts.',
  },
  {
    ...classifier,
    key: 'auto_contains_json',
    name: 'Contains JSON',
    description: 'Passes when there is a JSON object somewhere in the output.',
  },
  {
    ...classifier,
    key: 'auto_json_diff',
    name: 'JSON Diff Match',
    description: 'Scores a JSON output by the share of its values that equal those of the expected JSON.',
  },
  {
    ...similarity,
    key: 'auto_levenshtein_distance',
    name: 'Levenshtein Distance',
    description:
      'Scores by how few characters have to be changed to turn the output into the expected answer.',
  },
  {
    ...similarity,
    key: 'auto_similarity_match',
    name: 'Similarity Match',
    description:
      'Scores by how much of the output and the expected answer is the same text in the same order.',
  },
  {
    ...similarity,
    key: 'auto_semantic_similarity',
    name: 'Semantic Similarity Match',
    description: 'Scores by how close output and expected answer are in meaning, by their embeddings.',
  },
]
