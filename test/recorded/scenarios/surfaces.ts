/** A surface with payloads for it, written down anew: recordings do not believe the tables of the code. */
export interface RecordedSurface {
  readonly path: string
  readonly singular: string
  readonly plural: string
  /** A payload that holds the marks. */
  data(...marks: readonly string[]): object
  /** A delta that adds a mark to a payload that holds `latest`. */
  delta(mark: string, ...latest: readonly string[]): object
  /** A delta that takes something away from a payload with a mark. */
  readonly removal: object
  /** A template that artifacts of this surface are made from; absent where there is none. */
  readonly template?: string
  /** Where a payload has a text whose lines are blamed; absent where no payload has one. */
  readonly text?: string
  /** Payloads that are refused, each with a word for what is wrong. */
  readonly wrong: readonly (readonly [what: string, data: unknown])[]
}

const prompt = (...marks: readonly string[]): object => ({
  uri: 'svc:builtin:completion:v0',
  parameters: {
    prompt: {
      messages: [
        { role: 'system', content: `You answer.\n${marks.join('\n')}\n` },
        { role: 'user', content: 'About {{topic}}: {{question}}' },
      ],
      llm_config: { model: 'mock/examples', temperature: 0.5 },
      template_format: 'mustache',
    },
  },
})

const pin = { workflow_revision: { slug: 'pinned', version: 1 } }
const conditionOn = (field: string): object => ({ field, operator: 'exists' })

export const SURFACES: readonly RecordedSurface[] = [
  {
    path: 'workflows',
    singular: 'workflow',
    plural: 'workflows',
    data: (...marks) => ({
      parameters: Object.fromEntries(marks.map((mark) => [mark, true])),
      script: `${marks.join('\n')}\n`,
      runtime: 'python',
    }),
    delta: (mark) => ({ set: { parameters: { [mark]: true } } }),
    removal: { remove: ['runtime', 'script'] },
    template: 'auto_exact_match',
    wrong: [
      ['no object', [1]],
      ['parameters that are a list', { parameters: [] }],
      ['a number as uri', { uri: 7 }],
      ['a field that nobody reads', { parameters: {}, nobody_reads: 1 }],
      ['a script without a runtime it knows', { script: 'x', runtime: 'cobol' }],
      ['files beside the parameters', { parameters: {}, files: { 'up.md': 'x' } }],
    ],
  },
  {
    path: 'applications',
    singular: 'application',
    plural: 'applications',
    data: prompt,
    delta: (mark) => ({ set: { parameters: { temperature: mark } } }),
    removal: { remove: ['parameters.temperature'] },
    template: 'completion',
    text: '/parameters/prompt/messages/0/content',
    wrong: [
      ['messages that are no list', { parameters: { prompt: { messages: 'Hi' } } }],
      ['a message without a role', { parameters: { prompt: { messages: [{ content: 'Hi' }] } } }],
      [
        'a template format that is not known',
        { parameters: { prompt: { messages: [], template_format: 'tex' } } },
      ],
      [
        'a template that does not parse',
        {
          uri: 'svc:builtin:completion:v0',
          parameters: {
            prompt: { messages: [{ role: 'user', content: '{{#a}}' }], template_format: 'mustache' },
          },
        },
      ],
      ['a uri of no handler', { uri: 'svc:builtin:nothing:v0' }],
      ['headers of text', { uri: 'user:custom:mine:v0', url: 'https://example.org', headers: 'x' }],
    ],
  },
  {
    path: 'evaluators',
    singular: 'evaluator',
    plural: 'evaluators',
    data: (...marks) => ({
      uri: 'svc:builtin:auto_exact_match:v0',
      parameters: { correct_answer_key: marks.join('_') },
    }),
    delta: (mark) => ({ set: { parameters: { correct_answer_key: mark } } }),
    removal: { remove: ['parameters.correct_answer_key'] },
    template: 'auto_exact_match',
    wrong: [
      [
        'a parameter of the wrong type',
        { uri: 'svc:builtin:auto_exact_match:v0', parameters: { correct_answer_key: 7 } },
      ],
      [
        'a parameter that is not known',
        { uri: 'svc:builtin:auto_regex_test:v0', parameters: { regex_patern: 'x' } },
      ],
      [
        'an expression that does not parse',
        { uri: 'svc:builtin:auto_regex_test:v0', parameters: { regex_pattern: '(' } },
      ],
    ],
  },
  {
    path: 'testsets',
    singular: 'testset',
    plural: 'testsets',
    data: (...marks) => ({ testcases: marks.map((mark, n) => ({ data: { mark, n } })) }),
    delta: (mark) => ({ rows: { add: [{ data: { mark } }] } }),
    removal: { columns: { remove: ['n'] } },
    wrong: [
      ['no rows', {}],
      ['rows that are no list', { testcases: 7 }],
      ['a row without data', { testcases: [{}] }],
      ['a row that is a number', { testcases: [1] }],
      ['an id of no row', { testcase_ids: ['01a1fbb1-f5c2-76ee-83de-4bacd1c878f6'] }],
      [
        'two rows of one dedup id',
        { testcases: [{ data: { testcase_dedup_id: 'a' } }, { data: { testcase_dedup_id: 'a' } }] },
      ],
      ['rows and ids', { testcases: [], testcase_ids: [] }],
    ],
  },
  {
    path: 'environments',
    singular: 'environment',
    plural: 'environments',
    data: (...marks) => ({ references: Object.fromEntries(marks.map((mark) => [mark, pin])) }),
    delta: (mark) => ({ set: { [mark]: pin } }),
    removal: { remove: ['n8'] },
    wrong: [
      ['references that are a list', { references: [] }],
      ['a reference to a thing of no kind', { references: { bot: { thing: { slug: 'a' } } } }],
      ['a reference of a number', { references: { bot: 7 } }],
      ['a field that nobody reads', { references: {}, nobody_reads: 1 }],
    ],
  },
  {
    path: 'queries',
    singular: 'query',
    plural: 'queries',
    data: (...marks) => ({ filtering: { operator: 'or', conditions: marks.map(conditionOn) } }),
    delta: (mark, ...latest) => ({
      set: { filtering: { operator: 'or', conditions: [...latest, mark].map(conditionOn) } },
    }),
    removal: { remove: ['filtering'] },
    wrong: [
      ['conditions that are no list', { filtering: { conditions: 7 } }],
      [
        'an operator that is not known',
        { filtering: { conditions: [{ field: 'a', operator: 'about', value: 1 }] } },
      ],
      ['a condition without a field', { filtering: { conditions: [{ operator: 'exists' }] } }],
      ['a limit below nothing', { filtering: { conditions: [] }, windowing: { limit: -1 } }],
      ['a focus that is not known', { formatting: { focus: 'sun' } }],
    ],
  },
]

/** An id of the right form that nothing has. */
export const NOBODY = '01a1fbb1-f5c2-76ee-83de-4bacd1c878f6'
