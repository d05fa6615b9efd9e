import { feedbackPresets } from './presets/feedback-presets.ts'
import type { TemplateDefinition } from './template-definition.ts'

const common = { kind: 'custom', roles: 'both', categories: [] } as const

/** Workflows whose work is done by somebody else, or by the user's own source. */
export const customTemplates: readonly TemplateDefinition[] = [
  {
    ...common,
    key: 'feedback',
    name: 'Custom Feedback',
    description:
      'Keeps verdicts that come from elsewhere: those of people, or of a program that already has one.',
    presets: feedbackPresets,
  },
  {
    ...common,
    key: 'hook',
    name: 'Custom Hook',
    description: 'Sends the request to an HTTP address of yours, given as url, and answers what comes back.',
  },
  {
    ...common,
    key: 'code',
    name: 'Custom Code',
    description:
      'Runs a script of yours in a sandbox: a function evaluate(inputs, outputs, trace) in Python, JavaScript or TypeScript.',
  },
  {
    ...common,
    key: 'mock',
    categories: ['custom'],
    description: 'Answers what its parameters tell it to, the same every time; for tests of what calls it.',
  },
]
