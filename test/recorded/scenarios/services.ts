import { del, get, post, put, type Scenario, type Step } from '../harness/scenario.ts'
import { NOBODY } from './surfaces.ts'

/** Handlers that run by themselves, what can be made from templates, and who may do what in a project. */
export const serviceScenarios: readonly Scenario[] = [
  { name: 'catalog', steps: ['workflows', 'applications', 'evaluators'].flatMap(catalogOf) },
  { name: 'services', steps: () => services() },
  { name: 'evaluations', steps: () => evaluations() },
  { name: 'administration', steps: () => administration() },
]

function catalogOf(path: string): Step[] {
  const at = `/${path}/catalog`
  const [template, preset] =
    path === 'applications' ? ['feedback', 'quality-rating'] : ['auto_regex_test', 'contains']
  return [
    get(`${path}: types`, `${at}/types`),
    get(`${path}: a type`, `${at}/types/prompt-template`),
    get(`${path}: a type that is not there`, `${at}/types/nothing`),
    get(`${path}: templates`, `${at}/templates`),
    get(`${path}: a template`, `${at}/templates/${template}`),
    get(`${path}: a template that is not there`, `${at}/templates/nothing`),
    get(`${path}: presets`, `${at}/templates/${template}/presets`),
    get(`${path}: presets of a template that is not there`, `${at}/templates/nothing/presets`),
    get(`${path}: a preset`, `${at}/templates/${template}/presets/${preset}`),
    get(`${path}: a preset that is not there`, `${at}/templates/${template}/presets/nothing`),
    get(`${path}: harnesses`, `${at}/harnesses`),
    ...(path === 'evaluators'
      ? [get('the templates of before the catalog', '/simple/evaluators/templates')]
      : []),
  ]
}

const PROMPT = {
  uri: 'svc:builtin:completion:v0',
  parameters: {
    prompt: {
      messages: [
        { role: 'system', content: 'You answer.' },
        { role: 'user', content: 'What is the capital of {{country}}?' },
      ],
      llm_config: { model: 'mock/examples' },
      template_format: 'mustache',
    },
  },
}
/** The id of a trace that the caller began. */
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

const EXACT = { uri: 'svc:builtin:auto_exact_match:v0' }
const OSLO = { uri: 'svc:custom:mock:v0', parameters: { key: 'static', kwargs: { output: 'Oslo' } } }

function services(): Step[] {
  const run = (title: string, key: string, data: unknown): Step =>
    post(title, `/services/${key}/v0/invoke`, { data })
  const texts = (key: string, parameters: unknown): Step =>
    run(`run ${key}`, key, {
      parameters,
      inputs: { correct_answer: 'Paris' },
      outputs: 'Paris, on the Seine',
    })
  const fields = (key: string, parameters: unknown): Step =>
    run(`run ${key}`, key, {
      parameters,
      inputs: { correct_answer: '{"city":"Paris"}' },
      outputs: '{"city":"Paris","river":"Seine"}',
    })
  return [
    post('a prompt', '/simple/applications', { application: { slug: 'bot', data: PROMPT } }, { as: 'bot' }),
    post('its revision', '/applications/revisions/retrieve', { application_ref: { slug: 'bot' } }, {}),
    get('whether it can run', '/services/completion/v0/<bot revision>/health'),
    get('whether nothing can run', `/services/completion/v0/${NOBODY}/health`),
    post('look at it', '/services/completion/v0/<bot revision>/inspect'),
    post('look at it by reference', '/services/inspect', { references: { application: { slug: 'bot' } } }),
    post('look at a handler', '/services/completion/v0/inspect'),
    post('look at a handler that is not there', '/services/nothing/v0/inspect'),
    post('run it without an input', '/services/completion/v0/<bot revision>/invoke', {
      data: { inputs: {} },
    }),
    post(
      'run it in a trace of the caller’s',
      '/services/completion/v0/<bot revision>/invoke',
      { data: { inputs: { country: 'Norway' } } },
      { headers: { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }, as: 'traced' },
    ),
    get('the trace', `/traces/${TRACE}`, { until: 'completion', bare: true }),
    get('a span of the trace', `/spans/${TRACE}/<traced span>`, { bare: true }),
    get('a span that is not there', `/spans/${TRACE}/${'e'.repeat(16)}`),
    get('the trace with a key that may only write', `/traces/${TRACE}`, { key: 'write' }),
    del('remove the trace with a key that may only read', `/traces/${TRACE}`, { key: 'read' }),
    del('remove the trace', `/traces/${TRACE}`),
    del('remove the trace again', `/traces/${TRACE}`),
    post('run it under another handler', '/services/chat/v0/<bot revision>/invoke', { data: { inputs: {} } }),
    post('run what is not there', `/services/completion/v0/${NOBODY}/invoke`, {}),
    post('run by a slug that is not there', '/services/invoke', {
      references: { application: { slug: 'nobody' } },
    }),
    post('run by nothing', '/services/invoke', {}),
    post('run with inputs that are a list', '/services/completion/v0/<bot revision>/invoke', {
      data: { inputs: [] },
    }),
    post('run with a field that nobody reads', '/services/completion/v0/<bot revision>/invoke', {
      nobody: 1,
    }),
    post(
      'run with a key that may only read',
      '/services/completion/v0/<bot revision>/invoke',
      {},
      { key: 'read' },
    ),
    run('run a handler of a model that is not there', 'completion', {
      parameters: {
        prompt: { messages: [{ role: 'user', content: 'Hi' }], llm_config: { model: 'mock/no' } },
      },
    }),
    run('run a handler that is not run here', 'agent', { parameters: {} }),
    texts('echo', {}),
    texts('auto_exact_match', {}),
    texts('auto_regex_test', { regex_pattern: '^[A-Z]' }),
    fields('field_match_test', { json_field: 'city' }),
    fields('json_multi_field_match', { fields: ['city'] }),
    run('compare fields of what has none', 'field_match_test', {
      parameters: { json_field: 'city' },
      inputs: { correct_answer: 'Paris' },
      outputs: 'Paris, on the Seine',
    }),
    texts('auto_starts_with', { prefix: 'Paris' }),
    texts('auto_ends_with', { suffix: 'Seine' }),
    texts('auto_contains', { substring: 'the' }),
    texts('auto_contains_any', { substrings: ['Seine', 'Rhine'] }),
    texts('auto_contains_all', { substrings: ['Seine', 'Rhine'] }),
    texts('auto_contains_json', {}),
    texts('auto_levenshtein_distance', { threshold: 0.8 }),
    texts('auto_similarity_match', { similarity_threshold: 0.5 }),
    texts('match', { matchers: [{ key: 'a', target: '$.outputs', match: 'contains', reference: 'Paris' }] }),
    texts('mock', { key: 'score', kwargs: { score: 0.7 } }),
    post('run an evaluator by its data', '/services/invoke', {
      data: { revision: { data: EXACT }, inputs: { correct_answer: 'a' }, outputs: 'a' },
    }),
  ]
}

function evaluations(): Step[] {
  const order = {
    testset_ref: { slug: 'capitals' },
    application_ref: { slug: 'oslo' },
    evaluator_refs: [{ slug: 'exact' }],
    concurrency: 1,
    wait: true,
  }
  const at = '/evaluations'
  const run = (title: string, wrong: object): Step => post(title, `${at}/run`, { ...order, ...wrong })
  return [
    post('rows', '/simple/testsets', {
      testset: {
        slug: 'capitals',
        data: {
          testcases: [
            { data: { country: 'Norway', correct_answer: 'Oslo' } },
            { data: { country: 'Fiji', correct_answer: 'Suva' } },
          ],
        },
      },
    }),
    post('an application', '/simple/applications', { application: { slug: 'oslo', data: OSLO } }),
    post('an evaluator', '/simple/evaluators', { evaluator: { slug: 'exact', data: EXACT } }),
    post('run', `${at}/run`, order, { as: 'evaluation' }),
    run('run on a testset that is not there', { testset_ref: { slug: 'nowhere' } }),
    run('run an application that is not there', { application_ref: { slug: 'nobody' } }),
    run('run with an evaluator that is not there', { evaluator_refs: [{ slug: 'nobody' }] }),
    run('run with no testset', { testset_ref: undefined }),
    run('run with no application', { application_ref: undefined }),
    run('run too many rows at a time', { concurrency: 1000 }),
    run('run with a field that nobody reads', { nobody_reads: 1 }),
    post('run with a key that may only read', `${at}/run`, order, { key: 'read' }),
    get('how far it is', `${at}/<evaluation>`),
    get('how far nothing is', `${at}/${NOBODY}`),
    post('list', `${at}/query`),
    post('list those that run', `${at}/query`, { evaluation: { state: 'running' } }),
    post('list those of a state that is none', `${at}/query`, { evaluation: { state: 'green' } }),
    post('results', `${at}/<evaluation>/results`),
    post('results that passed', `${at}/<evaluation>/results`, { result: { outcome: 'passed' } }),
    post('results that failed', `${at}/<evaluation>/results`, { result: { outcome: 'failed' } }),
    post('results of an outcome that is none', `${at}/<evaluation>/results`, {
      result: { outcome: 'green' },
    }),
    post('a page of results', `${at}/<evaluation>/results`, { windowing: { limit: 1 } }),
    post('results of nothing', `${at}/${NOBODY}/results`),
    post('judge again', `${at}/<evaluation>/judge`, { evaluator_refs: [{ slug: 'exact' }], wait: true }),
    post('judge by nobody', `${at}/<evaluation>/judge`, { evaluator_refs: [{ slug: 'nobody' }] }),
    post('judge nothing', `${at}/${NOBODY}/judge`, { evaluator_refs: [{ slug: 'exact' }] }),
    post('go on with what is finished', `${at}/<evaluation>/resume`, { wait: true }),
    post('stop what is finished', `${at}/<evaluation>/stop`),
  ]
}

function administration(): Step[] {
  const cookie = 'branchpoint=nothing'
  const signedIn = { cookie: 'branchpoint=administration.<session 1>', 'sec-fetch-site': 'same-origin' }
  return [
    post('make a key', '/keys', { key: { name: 'reader', scopes: ['read'] } }, { as: 'reader' }),
    post(
      'make a key that expires',
      '/keys',
      { key: { name: 'brief', scopes: ['read'], expires_at: '2100-01-01' } },
      { as: 'brief' },
    ),
    post('make a key that has expired', '/keys', {
      key: { name: 'late', scopes: ['read'], expires_at: '2020-01-01T00:00:00Z' },
    }),
    post('make a key that expires at no time', '/keys', {
      key: { name: 'odd', scopes: ['read'], expires_at: 'soon' },
    }),
    post('make a key of no scope', '/keys', { key: { name: 'none', scopes: [] } }),
    post('make a key of a scope that is none', '/keys', { key: { name: 'odd', scopes: ['fly'] } }),
    post('make a key without a name', '/keys', { key: { scopes: ['read'] } }),
    get('keys', '/keys'),
    get('keys by name', '/keys?name=reader'),
    post('keys by scope', '/keys/query', { key: { scopes: ['read'] } }),
    del('revoke a key', '/keys/<reader>'),
    del('revoke nothing', `/keys/${NOBODY}`),
    put('set a secret', '/secrets/TOKEN', { secret: { value: 'hidden' } }),
    put('set a secret of a strange name', '/secrets/no-name', { secret: { value: 'hidden' } }),
    put('set a secret without a value', '/secrets/TOKEN', { secret: {} }),
    get('secrets', '/secrets'),
    post('test a secret that is no key of a provider', '/secrets/TOKEN/test'),
    post('test a secret that is not there', '/secrets/NOTHING/test'),
    put('set a key of a provider', '/secrets/GATEWAY', {
      secret: { value: 'hidden', provider: 'openai', base_url: '<receiver>/200' },
    }),
    post('test a key that the provider does not take', '/secrets/GATEWAY/test'),
    del('remove the key of the provider', '/secrets/GATEWAY'),
    del('remove a secret', '/secrets/TOKEN'),
    del('remove a secret again', '/secrets/TOKEN'),
    get('the project', '/projects/current'),
    post('make a project', '/projects', { project: { name: 'Made' } }, { key: 'server', as: 'made' }),
    post(
      'make a project of a name that differs in case',
      '/projects',
      { project: { name: 'made' } },
      {
        key: 'server',
      },
    ),
    post('make a project of a strange name', '/projects', { project: { name: '.git' } }, { key: 'server' }),
    post('make a project with a key of another one', '/projects', { project: { name: 'mine' } }),
    get('projects', '/projects', { key: 'server', bare: true }),
    get('projects, for a key of another one', '/projects'),
    get('a backup', '/projects/current/backup', { bare: true }),
    post('who did what to keys', '/audit/query', { audit: { kind: ['key'] }, windowing: { limit: 1 } }),
    post('who did what of a kind that is none', '/audit/query', { audit: { kind: ['moon'] } }),
    post('who did what, with a key that may only read', '/audit/query', {}, { key: 'read' }),
    get('a backup, with a key that may only read', '/projects/current/backup', { key: 'read' }),
    post('sign in', '/sessions', { session: { key: '<admin key>' } }, { key: 'none', bare: true }),
    post(
      'sign in by a key that nobody has',
      '/sessions',
      { session: { key: 'svc_nobody' } },
      { key: 'none' },
    ),
    post(
      'sign in by a link that is used up',
      '/sessions',
      { session: { token: 'nothing' } },
      { key: 'none' },
    ),
    post('sign in by nothing', '/sessions', { session: {} }, { key: 'none' }),
    post('make a link', '/sessions/links', {}, { bare: true }),
    get('who is signed in, for a key', '/sessions/current'),
    get('who is signed in', '/sessions/current', { key: 'none', headers: signedIn }),
    get('who is signed in, from another site', '/sessions/current', {
      key: 'none',
      headers: { ...signedIn, 'sec-fetch-site': 'cross-site' },
    }),
    post(
      'write from another site',
      '/keys/query',
      {},
      {
        key: 'none',
        headers: { ...signedIn, 'sec-fetch-site': 'cross-site' },
      },
    ),
    get('who is signed in by a cookie of nothing', '/sessions/current', { key: 'none', headers: { cookie } }),
    del('sign out, for a key', '/sessions/current'),
    del('sign out', '/sessions/current', { key: 'none', headers: signedIn }),
    get('who is signed in after that', '/sessions/current', { key: 'none', headers: signedIn }),
    post('make a webhook', '/webhooks', { webhook: { url: '<receiver>/200' } }, { as: 'hook' }),
    post('make a webhook to no address', '/webhooks', { webhook: { url: 'nowhere' } }),
    post('make a webhook of an event that is none', '/webhooks', {
      webhook: { url: '<receiver>/200', events: ['sun.rises'] },
    }),
    post('webhooks', '/webhooks/query'),
    get('read the webhook', '/webhooks/<hook>'),
    get('read a webhook that is not there', `/webhooks/${NOBODY}`),
    put('edit the webhook', '/webhooks/<hook>', { webhook: { name: 'Hook', events: ['variant.created'] } }),
    post('rotate its secret', '/webhooks/<hook>/rotate'),
    post('its deliveries', '/webhooks/<hook>/deliveries/query'),
    get('a delivery that is not there', `/webhooks/deliveries/${NOBODY}`),
    post('archive the webhook', '/webhooks/<hook>/archive'),
    post('bring the webhook back', '/webhooks/<hook>/unarchive'),
    get('health', '/health', { key: 'none' }),
    get('ready', '/ready', { key: 'none', bare: true }),
    get('metrics', '/metrics', { bare: true }),
    get('the OpenAPI document', '/openapi.json', { key: 'none', bare: true }),
    get('the page of the documents', '/docs/api', { key: 'none', bare: true }),
    get('what answers here', '/', { key: 'none' }),
    get('no route', '/nothing/of/the/kind'),
    post('search', '/search', { query: 'nothing' }),
    post('search for no words', '/search', { query: '-a' }),
    post('search in a kind that is none', '/search', { query: 'a', kinds: ['moon'] }),
    post('traces', '/traces/query'),
    post('spans', '/spans/query'),
    get('traces by id', `/traces?trace_id=${'e'.repeat(32)}`),
    get('traces without an id', '/traces'),
    get('a trace that is not there', `/traces/${'e'.repeat(32)}`),
  ]
}
