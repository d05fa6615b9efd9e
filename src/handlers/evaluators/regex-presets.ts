import type { CatalogPreset } from '../catalog/catalog-template.ts'

/** Patterns for what texts are most often tested for; the words in capitals are to be replaced. */
export const regexPresets: readonly CatalogPreset[] = [
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
    // Not with a dot: the texts may stand on different lines.
    '^(?=[\\s\\S]*SUBSTRING1)(?=[\\s\\S]*SUBSTRING2)(?=[\\s\\S]*SUBSTRING3)',
    'The output contains each of several texts, in any order.',
  ),
]

function pattern(key: string, name: string, regex_pattern: string, description: string): CatalogPreset {
  const parameters = { regex_pattern, regex_should_match: true }
  return { key, name, description, categories: ['classifiers'], parameters }
}
