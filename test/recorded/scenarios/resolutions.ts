import { type Scenario, type Step, get, post } from '../harness/scenario.ts'
import { NOBODY } from './surfaces.ts'

/** Conflicts and how each is ended, and the questions about history that have options. */
export const resolutionScenarios: readonly Scenario[] = [
  { name: 'resolutions', steps: () => [...texts(), ...questions()] },
  { name: 'resolutions-rows', steps: rowConflicts },
]

const PLACE = '/parameters/prompt/messages/0/content'
const between = (source: string, target: string): object => ({
  source: { variant: { slug: source } },
  target: { variant: { slug: target } },
})

function texts(): Step[] {
  const commit = (slug: string, content: string, temperature: number, as: string): Step =>
    post(
      `change ${as}`,
      '/applications/revisions/commit',
      {
        application_revision: { message: as, data: prompt(content, temperature) },
        application_variant_ref: { slug },
      },
      { as },
    )
  const merge = (title: string, body: object, more: object = {}): Step =>
    post(title, '/applications/variants/merge', { ...between('left', 'right'), ...body }, more)
  const resolved = (title: string, ...resolutions: readonly unknown[]): Step =>
    merge(title, { resolutions, dry_run: true })
  return [
    post(
      'a prompt',
      '/simple/applications',
      { application: { slug: 'bot', data: prompt('One\nTwo\nThree\n', 0.5) } },
      { as: 'bot' },
    ),
    ...['left', 'right', 'text', 'whole'].map((slug) =>
      post(
        `fork ${slug}`,
        '/applications/variants/fork',
        { application_variant: { slug }, application_variant_ref: { slug: 'bot' } },
        { as: slug },
      ),
    ),
    commit('left', 'One\nLeft\nThree\n', 0.1, 'left one'),
    commit('right', 'One\nRight\nThree\n', 0.9, 'right one'),
    commit('text', 'Zero\nOne\nTwo\nThree\n', 0.5, 'text one'),
    merge('a dry run with two conflicts', { dry_run: true }),
    merge('a merge with two conflicts', {}),
    resolved('one of two is resolved', { place: PLACE, take: 'source' }),
    resolved('both take the source', { all: 'source' }),
    resolved('both take the target', { all: 'target' }),
    resolved(
      'one value, and the rest the target',
      { place: PLACE, value: 'One\nBoth\nThree\n' },
      { all: 'target' },
    ),
    resolved('one takes the base', { place: PLACE, take: 'base' }, { all: 'source' }),
    resolved(
      'one is removed',
      { place: '/parameters/prompt/llm_config/temperature', remove: true },
      { all: 'source' },
    ),
    resolved('a place without a conflict', { place: '/parameters/prompt/template_format', take: 'source' }),
    resolved('a place twice', { place: PLACE, take: 'source' }, { place: PLACE, take: 'target' }),
    resolved('a place with two answers', { place: PLACE, take: 'source', value: 'x' }),
    resolved('a place without an answer', { place: PLACE }),
    resolved('a side that is not known', { place: PLACE, take: 'mine' }),
    resolved('all of a side that is not known', { all: 'base' }),
    resolved('a place that is no pointer', { place: 'parameters', take: 'source' }),
    resolved('a resolution that is a number', 7),
    merge('a target that moved', { resolutions: [{ all: 'source' }], expected_target: NOBODY }),
    merge(
      'a merge without words of its own',
      { resolutions: [{ all: 'source' }], expected_target: '<right one>' },
      { as: 'merged' },
    ),
    merge('a merge again', {}),
    post('a merge of texts without a conflict', '/applications/variants/merge', {
      ...between('text', 'right'),
      message: 'Text',
    }),
    post('a merge that could move forward and does not', '/applications/variants/merge', {
      ...between('right', 'whole'),
      fast_forward: false,
    }),
    post('a revert with a conflict', '/applications/revisions/revert', {
      revision: { id: '<left one>' },
      target: { variant: { slug: 'right' } },
    }),
    post('a cherry-pick with a conflict', '/applications/revisions/cherry-pick', {
      revision: { id: '<right one>' },
      target: { variant: { slug: 'left' } },
    }),
    post('a cherry-pick whose conflict is resolved', '/applications/revisions/cherry-pick', {
      revision: { id: '<right one>' },
      target: { variant: { slug: 'left' } },
      resolutions: [{ all: 'source' }],
    }),
    post('a cherry-pick of a first revision', '/applications/revisions/cherry-pick', {
      revision: { slug: 'bot', version: 1 },
      target: { variant: { slug: 'left' } },
    }),
  ]
}

function questions(): Step[] {
  const list = (title: string, body: object): Step => post(title, '/applications/revisions/query', body)
  const diff = (title: string, body: object): Step => post(title, '/applications/revisions/diff', body)
  const graph = (title: string, body: object): Step => post(title, '/applications/graph', body)
  const blame = (title: string, query: string): Step =>
    get(title, `/applications/revisions/<merged>/blame${query}`)
  return [
    ...['message', 'author', 'slug', 'name', 'text'].map((field) =>
      list(`revisions by ${field}`, { application_revision: { [field]: 'left' } }),
    ),
    ...['subject', 'created_by_id', 'version'].map((field) =>
      list(`revisions by ${field}, which is no filter`, { application_revision: { [field]: 'left' } }),
    ),
    list('revisions by tags', { application_revision: { tags: { a: 'one' } } }),
    list('revisions in a window of time', { windowing: { newest: '2020-01-01T00:00:00Z' } }),
    list('revisions of two variants', {
      application_variant_refs: [{ slug: 'left' }, { slug: 'right' }],
      windowing: { limit: 3 },
    }),
    diff('compare a side with the merge', { base: { slug: 'left', version: 2 }, head: { id: '<merged>' } }),
    diff('a page of a comparison', {
      base: { slug: 'bot', version: 1 },
      head: { id: '<merged>' },
      windowing: { limit: 1 },
    }),
    diff('compare in an order that is not known', {
      base: { slug: 'bot', version: 1 },
      head: { id: '<merged>' },
      windowing: { order: 'up' },
    }),
    graph('the graph of the merge', { application_ref: { slug: 'bot' } }),
    graph('a page of the graph', { application_ref: { slug: 'bot' }, windowing: { limit: 2 } }),
    graph('the graph with signatures', {
      application_ref: { slug: 'bot' },
      windowing: { limit: 1 },
      include_signatures: true,
    }),
    graph('the graph of nothing', {}),
    graph('the graph of what is not there', { application_ref: { slug: 'nobody' } }),
    graph('the graph with a cursor that is none', {
      application_ref: { slug: 'bot' },
      windowing: { next: 'x' },
    }),
    blame('who wrote a text', `?place=${PLACE}`),
    blame('who wrote what is no text', '?place=/parameters/prompt/llm_config/temperature'),
    blame('who wrote what is not there', '?place=/nothing'),
    blame('who wrote nothing', ''),
    blame('who wrote a place that is no pointer', '?place=nothing'),
    get('who wrote a revision that is not there', `/applications/revisions/${NOBODY}/blame?place=${PLACE}`),
    get('where the merge comes from', '/applications/revisions/<merged>/provenance'),
    get('where what is not there comes from', `/applications/revisions/${NOBODY}/provenance`),
    post(
      'a script',
      '/simple/workflows',
      { workflow: { slug: 'script', data: { script: 'one\ntwo\n', runtime: 'python', parameters: {} } } },
      { as: 'script' },
    ),
    get(
      'who wrote a script, which has no places',
      '/workflows/revisions/<script revision>/blame?place=/script',
    ),
    post(
      'an evaluator that asks a model',
      '/simple/evaluators',
      { evaluator: { slug: 'judge', data: prompt('Is it short?\nIs it kind?\n', 0) } },
      { as: 'judge' },
    ),
    get('who wrote a text of an evaluator', `/evaluators/revisions/<judge revision>/blame?place=${PLACE}`),
    get('who wrote it, as of a workflow', `/workflows/revisions/<judge revision>/blame?place=${PLACE}`),
  ]
}

function rowConflicts(): Step[] {
  const row = (a: number): object => ({ data: { testcase_dedup_id: 'one', a } })
  const commit = (slug: string, ...testcases: readonly object[]): Step =>
    post(
      `rows of ${slug}`,
      '/testsets/revisions/commit',
      { testset_revision: { message: slug, data: { testcases } }, testset_variant_ref: { slug } },
      { as: `${slug} rows` },
    )
  const merge = (title: string, body: object): Step =>
    post(title, '/testsets/variants/merge', { ...between('left', 'right'), ...body })
  return [
    post(
      'a testset',
      '/simple/testsets',
      { testset: { slug: 'rows', data: { testcases: [row(1)] } } },
      { as: 'rows' },
    ),
    ...['left', 'right'].map((slug) =>
      post(
        `fork ${slug}`,
        '/testsets/variants/fork',
        { testset_variant: { slug }, testset_variant_ref: { slug: 'rows' } },
        { as: slug },
      ),
    ),
    commit('left', row(2), { data: { testcase_dedup_id: 'left', a: 5 } }),
    commit('right', row(3), { data: { testcase_dedup_id: 'right', a: 6 } }),
    merge('a dry run of rows', { dry_run: true }),
    merge('rows that both changed', {}),
    merge('a row that takes the source', {
      dry_run: true,
      resolutions: [{ place: { row: 'one', column: 'a' }, take: 'source' }],
    }),
    merge('a row of no conflict', {
      dry_run: true,
      resolutions: [{ place: { row: 'left' }, take: 'source' }],
    }),
    merge('all rows of the target, as a dry run', { dry_run: true, resolutions: [{ all: 'target' }] }),
    merge('all rows of the source', { resolutions: [{ all: 'source' }] }),
    post('compare the rows of both', '/testsets/variants/compare', {
      base: { variant: { slug: 'left' } },
      head: { variant: { slug: 'right' } },
    }),
  ]
}

function prompt(content: string, temperature: number): object {
  return {
    uri: 'svc:builtin:completion:v0',
    parameters: {
      prompt: {
        messages: [{ role: 'system', content }],
        llm_config: { model: 'mock/examples', temperature },
        template_format: 'mustache',
      },
    },
  }
}
