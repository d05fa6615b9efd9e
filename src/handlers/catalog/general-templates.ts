import type { TemplateDefinition } from './template-definition.ts'

const common = { kind: 'builtin', categories: ['builtin'] } as const

/** The matcher, what calls a language model, and an echo. */
export const generalTemplates: readonly TemplateDefinition[] = [
  {
    ...common,
    key: 'match',
    name: 'Builtin Matcher',
    roles: 'evaluator',
    categories: [],
    description:
      'Tests parts of inputs, outputs and trace, as text or as JSON, and sums the results up; tests can be nested and weighted.',
  },
  {
    ...common,
    key: 'llm',
    name: 'Builtin LLM',
    roles: 'both',
    categories: [],
    description: 'Sends messages to the first of several language models that answers.',
  },
  {
    ...common,
    key: 'chat',
    name: 'chat',
    roles: 'application',
    description: 'A prompt that leads a conversation: the messages so far come with every request.',
  },
  {
    ...common,
    key: 'completion',
    name: 'completion',
    roles: 'application',
    description: 'A prompt that is filled in and answered once.',
  },
  {
    ...common,
    key: 'agent',
    name: 'agent',
    roles: 'application',
    description:
      'An agent with tools and skills. Its configuration is kept and versioned here; running it needs another service.',
  },
  {
    ...common,
    key: 'echo',
    roles: 'evaluator',
    description: 'Answers the input aloha as it came, to see whether requests arrive.',
  },
]
