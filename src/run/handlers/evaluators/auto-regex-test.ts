import { getKey, type Json } from '../../../base/json.ts'
import { closedObject } from '../../../registry/workflows.ts'
import type { HandlerContext, HandlerDefinition, HandlerRequest } from '../handler.ts'
import { neededText } from '../needed-text.ts'
import { isCaseSensitive, neededOutputs, passed, textOf } from '../scoring.ts'
import { searchPattern } from '../worker/search-pattern.ts'
import type { CatalogPreset } from '../../catalog/catalog-template.ts'

/** Patterns for common tests; replace the words in capitals. */
const regexPresets: readonly CatalogPreset[] = [
  pattern('starts_with', 'Starts With', '^PREFIX_PLACEHOLDER', 'The output begins with a text.'),
  pattern('ends_with', 'Ends With', 'SUFFIX_PLACEHOLDER$', 'The output ends with a text.'),
  pattern('contains', 'Contains', 'SUBSTRING_PLACEHOLDER', 'The output contains a text.'),
  pattern(
    'contains_any',
    'Contains Any',
    '(OPTION1|OPTION2|OPTION3)',
    'The output contains at least one of several texts.',
  ),
  pattern(
    'contains_all',
    'Contains All',
    // Not with a dot: the texts may be on different lines.
    '^(?=[\\s\\S]*SUBSTRING1)(?=[\\s\\S]*SUBSTRING2)(?=[\\s\\S]*SUBSTRING3)',
    'The output contains each of several texts, in any order.',
  ),
]

function pattern(key: string, name: string, regex_pattern: string, description: string): CatalogPreset {
  const parameters = { regex_pattern, regex_should_match: true }
  return { key, name, description, categories: ['classifiers'], parameters }
}

/**
 * `svc:builtin:auto_regex_test:v0` (interface 11.3): whether `regex_pattern` matches in the outputs, or does
 * not match if `regex_should_match` is given and not `true`.
 */
export const autoRegexTest: HandlerDefinition = {
  key: 'auto_regex_test',
  kind: 'builtin',
  schemas: {
    parameters: closedObject(
      {
        regex_pattern: {
          type: 'string',
          default: '',
          'x-svc-type': 'regex',
          title: 'Pattern',
          description: 'A regular expression, searched anywhere in the output: page \\d+ finds “page 4”.',
        },
        regex_should_match: {
          type: 'boolean',
          default: true,
          'x-svc-type': 'bool',
          title: 'Pass when the pattern is found',
          description: 'If off, an output passes when the pattern is not found in it.',
        },
      },
      ['regex_pattern'],
    ),
    outputs: passed,
  },
  template: {
    name: 'Regex Test',
    description: 'Passes when a regular expression is found in the output, or when it is not found.',
    roles: 'evaluator',
    categories: ['classifiers'],
  },
  presets: regexPresets,
  example: { parameters: { regex_pattern: '^[A-Z]' }, outputs: 'Paris' },
  run,
}

function run(request: HandlerRequest, context: HandlerContext): Json | Promise<Json> {
  const { parameters } = request
  const pattern = neededText(parameters, 'regex_pattern')
  const text = textOf(neededOutputs(request))
  const wanted = getKey(parameters, 'regex_should_match') ?? true
  const found = searchPattern(pattern, isCaseSensitive(parameters), text, context)
  const result = (isFound: boolean): Json => ({ success: isFound === (wanted === true) })
  return typeof found === 'boolean' ? result(found) : found.then(result)
}
