import type { HandlerDefinition } from '../handler.ts'
import { containsText } from '../metrics/contains-text.ts'
import { neededText } from '../needed-text.ts'
import { isCaseSensitive, neededOutputs, textOf } from '../scoring.ts'
import { textTest, type TextTest } from './text-test.ts'

/** `svc:builtin:auto_starts_with:v0` (interface 11.3). */
export const autoStartsWith = affixTest(
  'prefix',
  'Beginning',
  'The text that the output has to begin with, such as Dear.',
  (text, prefix) => text.startsWith(prefix),
  {
    key: 'auto_starts_with',
    name: 'Starts With',
    description: 'Passes when the output begins with a text.',
    sought: 'Paris',
  },
)

/** `svc:builtin:auto_ends_with:v0` (interface 11.3). */
export const autoEndsWith = affixTest(
  'suffix',
  'Ending',
  'The text that the output has to end with, such as a full stop.',
  (text, suffix) => text.endsWith(suffix),
  {
    key: 'auto_ends_with',
    name: 'Ends With',
    description: 'Passes when the output ends with a text.',
    sought: 'Seine',
  },
)

/** `svc:builtin:auto_contains:v0` (interface 11.3). */
export const autoContains = affixTest(
  'substring',
  'Text to find',
  'The text that the output has to contain anywhere, such as Paris.',
  containsText,
  {
    key: 'auto_contains',
    name: 'Contains',
    description: 'Passes when the output contains a text.',
    sought: 'the',
  },
)

/**
 * An evaluator that tests the text of the outputs with one piece of text. Every text contains an empty piece.
 */
function affixTest(
  parameter: string,
  title: string,
  description: string,
  test: (text: string, piece: string) => boolean,
  about: TextTest,
): HandlerDefinition {
  return textTest(
    parameter,
    { type: 'string', 'x-svc-type': 'text', title, description },
    about,
    (request) => {
      const piece = neededText(request.parameters, parameter)
      const text = textOf(neededOutputs(request))
      const tellsCase = isCaseSensitive(request.parameters)
      return { success: tellsCase ? test(text, piece) : test(text.toLowerCase(), piece.toLowerCase()) }
    },
  )
}
