import { type Scenario, type Step, edit, get, gitStep, post } from '../harness/scenario.ts'

/** What is larger than a server takes, on one whose limits are small; and what a server answers that answers as the existing service does. */
export const limitScenarios: readonly Scenario[] = [
  { name: 'limits', server: 'small', steps: () => [...documents(), ...rows(), ...pushes()] },
  { name: 'existing-service', server: 'existing', steps: existing },
]

function documents(): Step[] {
  const create = (title: string, data: unknown, as?: string): Step =>
    post(title, '/simple/workflows', { workflow: { slug: 'bot', data } }, as === undefined ? {} : { as })
  return [
    create('a payload that is too large', { parameters: { text: 'x'.repeat(2100) } }),
    create('a payload that is too deep', deep(40)),
    create('a payload that is small enough', { parameters: { text: 'x' } }, 'bot'),
    post('a revision that is too large', '/workflows/revisions/commit', {
      workflow_revision: { delta: { set: { parameters: { more: 'y'.repeat(2100) } } } },
      workflow_variant_ref: { slug: 'bot' },
    }),
  ]
}

function rows(): Step[] {
  const testcases = (count: number, text = 'x'): object => ({
    testcases: Array.from({ length: count }, (_, n) => ({ data: { testcase_dedup_id: `${n}`, n, text } })),
  })
  const create = (title: string, data: unknown, as?: string): Step =>
    post(title, '/simple/testsets', { testset: { slug: 'rows', data } }, as === undefined ? {} : { as })
  const upload = (title: string, content: string): Step =>
    post(title, '/simple/testsets/upload', {
      form: { testset_slug: 'uploaded' },
      file: { name: 'rows.csv', content },
    })
  return [
    create('rows that are too many', testcases(6)),
    create('a row that is too large', testcases(1, 'x'.repeat(1100))),
    create('rows that are few enough', testcases(5), 'rows'),
    post('a row more than there may be', '/testsets/revisions/commit', {
      testset_revision: { delta: { rows: { add: [{ data: { n: 6 } }] } } },
      testset_variant_ref: { slug: 'rows' },
    }),
    upload('a file that is too large', `a\n${'1\n'.repeat(1100)}`),
    upload('a file of too many rows', 'a\n1\n2\n3\n4\n5\n6\n'),
    upload('a file of a row that is too large', `a\n${'1'.repeat(1100)}\n`),
  ]
}

function pushes(): Step[] {
  const inWork = { in: 'work' }
  const refused = (what: string, files: Readonly<Record<string, string>>): Step[] => [
    edit(`write ${what}`, 'work', { files, message: `With ${what}` }),
    gitStep(`push ${what}`, ['push', 'origin', 'bot'], inWork),
    gitStep(`undo ${what}`, ['reset', '-q', '--hard', 'origin/bot'], inWork),
  ]
  // What does not repeat is not made smaller by packing it.
  const long = (seed: number, length: number): string => {
    let state = seed
    return Array.from({ length }, () => {
      state = (state * 1103515245 + 12345) % 2147483648
      return String.fromCharCode(97 + ((state >>> 16) % 26))
    }).join('')
  }
  return [
    gitStep('clone', ['clone', '-q', '<server>/git/workflows/bot.git', 'work']),
    ...refused('a file that is too large', { 'notes/long.txt': `${'x'.repeat(2100)}\n` }),
    ...refused('a payload that is too large', {
      'data.json': `${JSON.stringify({ parameters: { text: 'x'.repeat(2040) } })}\n`,
    }),
    ...refused(
      'more than one push may bring',
      Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`notes/${n}.txt`, `${long(n + 1, 1900)}\n`])),
    ),
    get('what it is after that', '/workflows/bot'),
  ]
}

function existing(): Step[] {
  const commit = (title: string, fields: object, as?: string): Step =>
    post(
      title,
      '/api/workflows/revisions/commit',
      { workflow_revision: { workflow_variant_id: '<bot variant>', ...fields } },
      as === undefined ? {} : { as },
    )
  return [
    post(
      'create with fields that nobody reads',
      '/api/simple/workflows/',
      { workflow: { slug: 'bot', folder_id: null, of_a_later_client: 1, data: { parameters: { a: 1 } } } },
      { as: 'bot' },
    ),
    commit(
      'commit with a field that the server makes',
      { version: 7, data: { parameters: { a: 2 } } },
      'second',
    ),
    commit('commit a delta that removes what is not there', { delta: { remove: ['nothing'] } }, 'third'),
    commit('commit null', { data: null }),
    post('retrieve by references that disagree', '/api/workflows/revisions/retrieve', {
      workflow_ref: { slug: 'nobody' },
      workflow_revision_ref: { id: '<second>' },
    }),
    post('retrieve by a member that nobody reads', '/api/workflows/revisions/retrieve', {
      workflow_ref: { slug: 'bot' },
      nobody_reads: 1,
    }),
    post('list by a member that nobody reads', '/api/workflows/query', { nobody_reads: 1 }),
    post('commit on what is not there', '/api/workflows/revisions/commit', {
      workflow_revision: { workflow_variant_ref: { slug: 'nobody' }, data: {} },
    }),
    post(
      'rows of odd columns',
      '/api/simple/testsets/',
      {
        testset: { slug: 'rows', data: { testcases: [{ data: { a: 1 } }, { data: { b: 2 } }] } },
      },
      { as: 'rows' },
    ),
    post('a delta of columns that does nothing', '/api/testsets/revisions/commit', {
      testset_revision: { testset_variant_id: '<rows variant>', delta: { columns: { add: ['a'] } } },
    }),
    get('read under /api/preview', '/api/preview/workflows/<bot>'),
  ]
}

function deep(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}
