import { type Scenario, type Step, del, get, post, put } from '../harness/scenario.ts'
import { NOBODY } from './surfaces.ts'

/**
 * What runs where: deployments, their log, guarded environments, and retrieval through an environment.
 * Left out: pages of deployments, whose cursor encodes an id, and the dependents of what is deployed in two environments, whose order changes.
 */
export const releaseScenarios: readonly Scenario[] = [
  { name: 'releases', steps: () => [...deployments(), ...taking(), ...guarding()] },
  { name: 'embeds', steps: embeds },
]

function deployments(): Step[] {
  const deploy = (title: string, body: object, more: object = {}): Step =>
    post(title, '/applications/revisions/deploy', body, more)
  const found = (title: string, body: object, more: object = {}): Step =>
    post(title, '/deployments/query', body, more)
  const log = (title: string, body: object, more: object = {}): Step =>
    post(title, '/deployments/log', body, more)
  const retrieve = (title: string, body: object): Step =>
    post(title, '/applications/revisions/retrieve', body)
  const first = { application_revision_ref: { slug: 'bot', version: 1 } }
  const staging = { environment_ref: { slug: 'staging' } }
  return [
    post(
      'a prompt',
      '/simple/applications',
      { application: { slug: 'bot', data: prompt('One') } },
      { as: 'bot' },
    ),
    post(
      'its second version',
      '/applications/revisions/commit',
      {
        application_revision: { message: 'Two', data: prompt('Two') },
        application_variant_ref: { slug: 'bot' },
      },
      { as: 'second' },
    ),
    deploy('deploy', { ...first, ...staging, message: 'First release' }),
    deploy('deploy what runs there', { ...first, ...staging }),
    deploy('deploy another version', {
      application_revision_ref: { id: '<second>' },
      ...staging,
      message: 'Two',
    }),
    deploy('deploy the head of a variant', {
      application_variant_ref: { slug: 'bot' },
      environment_ref: { slug: 'production' },
    }),
    deploy('deploy under a chosen key', { ...first, ...staging, key: 'greeter' }),
    deploy('roll back', { ...first, ...staging }),
    deploy(
      'deploy with a key that may deploy',
      { ...first, environment_ref: { slug: 'development' } },
      { key: 'read,deploy' },
    ),
    deploy('deploy with a key that may only read', { ...first, ...staging }, { key: 'read' }),
    deploy('deploy to nowhere', first),
    deploy('deploy to what is not there', { ...first, environment_ref: { slug: 'moon' } }),
    deploy('deploy nothing', staging),
    deploy('deploy what is not there', {
      application_revision_ref: { slug: 'nobody', version: 1 },
      ...staging,
    }),
    deploy('deploy a version that is not there', {
      application_revision_ref: { slug: 'bot', version: 9 },
      ...staging,
    }),
    deploy('deploy with an empty key', { ...first, ...staging, key: '' }),
    deploy('deploy with a message that is a number', { ...first, ...staging, message: 7 }),
    deploy('deploy with a member that nobody reads', { ...first, ...staging, nobody_reads: 1 }),
    deploy('deploy without a key', { ...first, ...staging }, { key: 'none' }),
    post('deploy as a workflow', '/workflows/revisions/deploy', {
      workflow_revision_ref: { slug: 'bot', version: 2 },
      environment_ref: { slug: 'development' },
    }),
    post(
      'an evaluator',
      '/simple/evaluators',
      {
        evaluator: {
          slug: 'exact',
          data: { uri: 'svc:builtin:auto_exact_match:v0', parameters: { correct_answer_key: 'a' } },
        },
      },
      { as: 'exact' },
    ),
    post('deploy an evaluator', '/evaluators/revisions/deploy', {
      evaluator_revision_ref: { slug: 'exact', version: 1 },
      ...staging,
    }),
    post(
      'commit and deploy in one',
      '/applications/revisions/commit',
      {
        application_revision: { message: 'Three', data: prompt('Three'), deploy: ['staging', 'production'] },
        application_variant_ref: { slug: 'bot' },
      },
      { as: 'third' },
    ),
    post('commit and deploy to what is not there', '/applications/revisions/commit', {
      application_revision: { message: 'Four', data: prompt('Four'), deploy: ['moon'] },
      application_variant_ref: { slug: 'bot' },
    }),
    found('what is deployed', {}),
    found('what is deployed in an environment', { deployment: { environment_ref: { slug: 'staging' } } }),
    found('where an artifact is deployed', { deployment: { artifact_slug: 'bot' } }),
    found('what is deployed whose name contains a word', { deployment: { contains: 'greet' } }),
    found('what is deployed from the oldest', { windowing: { order: 'ascending' } }),
    found('what is deployed in what is not there', { deployment: { environment_ref: { slug: 'moon' } } }),
    found('what is deployed by a text', { deployment: 'staging' }),
    found('what is deployed by a member that nobody reads', { nobody_reads: 1 }),
    found('what is deployed for a key that may only write', {}, { key: 'write' }),
    found('what is deployed with a cursor that is none', { windowing: { next: 'x' } }),
    log('the log of no environment', {}),
    log('the log of an environment', staging),
    log('the log by a reference that it does not take', { application_ref: { slug: 'bot' } }),
    log('a page of the log', { ...staging, windowing: { limit: 1 } }),
    log('the log of what is not there', { environment_ref: { slug: 'moon' } }),
    log('the log with a limit below nothing', { ...staging, windowing: { limit: -1 } }),
    log('the log with a cursor that is none', { ...staging, windowing: { next: 'x' } }),
    log('the log by a member that nobody reads', { ...staging, nobody_reads: 1 }),
    log('the log for a key that may only write', staging, { key: 'write' }),
    log('the log without a key', staging, { key: 'none' }),
    retrieve('retrieve through an environment', { ...staging, application_ref: { slug: 'bot' } }),
    retrieve('retrieve by a key of an environment', { ...staging, key: 'greeter' }),
    retrieve('retrieve by a key that is not there', { ...staging, key: 'nobody' }),
    retrieve('retrieve what is not deployed there', {
      environment_ref: { slug: 'development' },
      key: 'greeter',
    }),
    retrieve('retrieve what was deployed', {
      environment_revision_ref: { slug: 'staging', version: 1 },
      key: 'bot.revision',
    }),
    retrieve('retrieve through an environment that is not there', {
      environment_ref: { slug: 'moon' },
      key: 'greeter',
    }),
    retrieve('retrieve through an environment without a key', staging),
    get(
      'retrieve through an environment by an address',
      '/applications/revisions/retrieve?environment_ref.slug=staging&application_ref.slug=bot',
    ),
    post('revisions of an environment that name an artifact', '/environments/revisions/query', {
      environment_refs: [{ slug: 'staging' }],
      references: [{ slug: 'exact' }],
    }),
    del('remove what is deployed', '/simple/applications/<bot>'),
    get('the project', '/projects/current'),
    get('the project for a key that may only read', '/projects/current', { key: 'read' }),
    get('the project without a key', '/projects/current', { key: 'none' }),
  ]
}

function taking(): Step[] {
  const commit = (title: string, delta: unknown, more: object = {}): Step =>
    post(
      title,
      '/environments/revisions/commit',
      { environment_revision: { message: title, delta }, environment_variant_ref: { slug: 'staging' } },
      more,
    )
  const pin = { application_revision: { slug: 'bot', version: 1 } }
  return [
    commit('take one down', { remove: ['greeter'] }),
    commit('take down what is not there', { remove: ['greter'] }),
    commit('set by a delta', { set: { 'again.revision': pin } }),
    commit('set a version that is not there yet', {
      set: { again: { application_revision: { slug: 'bot', version: 9 } } },
    }),
    commit('set and take down', { set: { other: pin }, remove: ['again.revision'] }),
    commit('set and take down the same', { set: { other: pin }, remove: ['other'] }),
    commit('take down by a text', { remove: 'other' }),
    commit('a delta of a number', 7),
    commit('a delta with a key that may only write', { set: { written: pin } }, { key: 'write' }),
    commit('a delta with a key that may only read', { set: { read: pin } }, { key: 'read' }),
    post('what the environment came to', '/environments/revisions/retrieve', {
      environment_ref: { slug: 'staging' },
    }),
    post('compare two states of it', '/environments/revisions/diff', {
      base: { slug: 'staging', version: 1 },
      head: { slug: 'staging', version: 2 },
    }),
    post('archive what is deployed', '/applications/<bot>/archive'),
    post('deploy what is archived', '/applications/revisions/deploy', {
      application_revision_ref: { slug: 'bot', version: 2 },
      environment_ref: { slug: 'development' },
    }),
    post('what is deployed, with what is archived', '/deployments/query', {
      deployment: { artifact_slug: 'bot' },
      include_archived: true,
    }),
    post('bring it back', '/applications/<bot>/unarchive'),
  ]
}

function guarding(): Step[] {
  const guard = (title: string, path: string, more: object = {}): Step =>
    post(title, `/simple/environments/${path}`, {}, more)
  return [
    guard('guard', '<production>/guard'),
    guard('guard again', '<production>/guard'),
    guard('guard with a key that may only write', '<production>/guard', { key: 'write' }),
    guard('guard what is not there', `${NOBODY}/guard`),
    guard('guard without a key', '<production>/guard', { key: 'none' }),
    post(
      'commit to what is guarded',
      '/environments/revisions/commit',
      {
        environment_revision: { message: 'No', delta: { remove: ['bot.revision'] } },
        environment_variant_ref: { slug: 'production' },
      },
      { key: 'write' },
    ),
    put(
      'edit what is guarded',
      '/environments/<production>',
      { environment: { name: 'x' } },
      { key: 'write' },
    ),
    del('remove what is guarded', '/simple/environments/<production>', { key: 'write' }),
    guard('take the guard away with a key that may only write', '<production>/unguard', { key: 'write' }),
    guard('take the guard away', '<production>/unguard'),
    guard('take it away again', '<production>/unguard'),
    guard('take it away from what is not there', `${NOBODY}/unguard`),
  ]
}

function embeds(): Step[] {
  const resolve = (title: string, body: object, more: object = {}): Step =>
    post(title, '/workflows/revisions/resolve', body, more)
  const of = (data: object): object => ({ workflow_revision: { data } })
  const embed = (references: object, selector?: object): object => ({
    '@svc.embed': { '@svc.references': references, ...(selector && { '@svc.selector': selector }) },
  })
  const with_ = (references: object, selector?: object): object =>
    of({ parameters: { x: embed(references, selector) } })
  const make = (slug: string, parameters: object): Step =>
    post(
      `a workflow ${slug}`,
      '/simple/workflows',
      { workflow: { slug, data: { parameters } } },
      { as: slug },
    )
  const tone = { workflow: { slug: 'tone' } }
  return [
    make('tone', { text: 'Be kind.', deep: { list: [1, 2, { a: 12345678901234567890 }] } }),
    make('outer', { x: embed(tone, { path: 'parameters.text' }) }),
    make('outermost', { y: embed({ workflow: { slug: 'outer' } }) }),
    make('circle', { x: 1 }),
    post('a circle', '/workflows/revisions/commit', {
      workflow_revision: { data: { parameters: { x: embed({ workflow: { slug: 'circle-2' } }) } } },
      workflow_variant_ref: { slug: 'circle' },
    }),
    make('circle-2', { x: embed({ workflow: { slug: 'circle' } }) }),
    post('deploy one', '/workflows/revisions/deploy', {
      workflow_revision_ref: { slug: 'tone', version: 1 },
      environment_ref: { slug: 'production' },
    }),
    resolve('resolve a revision', { workflow_revision_ref: { slug: 'outer', version: 1 } }),
    resolve('resolve a variant', { workflow_variant_ref: { slug: 'outer' } }),
    resolve('resolve in two levels', { workflow_ref: { slug: 'outermost' } }),
    resolve('resolve what has no embeds', { workflow_ref: { slug: 'tone' } }),
    resolve('resolve data', with_(tone)),
    resolve('resolve a part', with_(tone, { path: 'parameters.deep.list.2.a' })),
    resolve('resolve a path with brackets', with_(tone, { path: 'parameters.deep.list[2]' })),
    resolve('resolve by JSONPath', with_(tone, { path: '$.parameters.deep.list[*]' })),
    resolve('resolve by a JSON Pointer', with_(tone, { path: '/parameters/deep/list/0' })),
    resolve(
      'resolve through an environment',
      with_({ environment: { slug: 'production' } }, { key: 'tone.revision' }),
    ),
    resolve('resolve in a text', of({ parameters: { x: 'Say: @{{workflow.slug=tone, path:text}}!' } })),
    resolve('resolve to a depth that suffices', { workflow_ref: { slug: 'outermost' }, max_depth: 3 }),
    resolve('resolve to a depth that does not', { workflow_ref: { slug: 'outermost' }, max_depth: 1 }),
    resolve('resolve more embeds than allowed', {
      ...of({ parameters: { x: embed(tone), y: embed(tone) } }),
      max_embeds: 1,
    }),
    resolve('resolve a circle', { workflow_ref: { slug: 'circle' } }),
    resolve('resolve a circle and keep it', { workflow_ref: { slug: 'circle' }, error_policy: 'keep' }),
    resolve('resolve a circle with a placeholder', {
      workflow_ref: { slug: 'circle' },
      error_policy: 'placeholder',
    }),
    resolve('resolve what is not there', with_({ workflow: { slug: 'nobody' } })),
    resolve(
      'resolve a version that is not there',
      with_({ workflow_revision: { slug: 'tone', version: 9 } }),
    ),
    resolve(
      'resolve a key that is not deployed',
      with_({ environment: { slug: 'production' } }, { key: 'nobody' }),
    ),
    resolve('resolve an environment without a key', with_({ environment: { slug: 'production' } })),
    resolve('resolve a version alone', with_({ workflow_revision: { version: 1 } })),
    resolve('resolve a part that is not there', with_(tone, { path: 'parameters.nothing' })),
    resolve('resolve a path that does not parse', with_(tone, { path: '$..[' })),
    resolve('resolve no references', with_({})),
    resolve('resolve a thing of no kind', with_({ testset: { slug: 'tone' } })),
    resolve('resolve two kinds', with_({ workflow: { slug: 'tone' }, environment: { slug: 'production' } })),
    resolve(
      'resolve two kinds of workflows',
      with_({ workflow: { slug: 'tone' }, application: { slug: 'tone' } }),
    ),
    resolve(
      'resolve a level twice',
      with_({ workflow: { slug: 'tone' }, workflow_artifact: { slug: 'tone' } }),
    ),
    resolve(
      'resolve references that disagree',
      with_({ workflow: { slug: 'tone' }, workflow_revision: { id: '<outer revision>' } }),
    ),
    resolve('resolve with a policy that is not known', { ...with_(tone), error_policy: 'shrug' }),
    resolve('resolve to a depth that is a text', { ...with_(tone), max_depth: 'two' }),
    resolve('resolve nothing', {}),
    resolve('resolve with a member that nobody reads', { ...with_(tone), nobody_reads: 1 }),
    resolve('resolve with a key that may only write', with_(tone), { key: 'write' }),
    resolve('resolve without a key', with_(tone), { key: 'none' }),
    post('retrieve and resolve', '/workflows/revisions/retrieve', {
      workflow_ref: { slug: 'outer' },
      resolve: true,
    }),
    post('retrieve and resolve a circle', '/workflows/revisions/retrieve', {
      workflow_ref: { slug: 'circle' },
      resolve: true,
    }),
    post('resolve an application', '/applications/revisions/resolve', {
      application_revision: { data: { parameters: { x: embed(tone, { path: 'parameters.text' }) } } },
    }),
    post('resolve an evaluator', '/evaluators/revisions/resolve', {
      evaluator_revision: { data: { parameters: { x: embed(tone, { path: 'parameters.text' }) } } },
    }),
    post('resolve an environment', '/environments/revisions/resolve', {
      environment_ref: { slug: 'production' },
    }),
    post('what embeds it', '/workflows/revisions/dependents', { workflow_ref: { slug: 'tone' } }),
    post('a page of what embeds it', '/workflows/revisions/dependents', {
      workflow_ref: { slug: 'tone' },
      windowing: { limit: 1 },
    }),
  ]
}

function prompt(content: string): object {
  return {
    uri: 'svc:builtin:completion:v0',
    parameters: {
      prompt: {
        messages: [
          { role: 'system', content: `You answer.\n${content}\n` },
          { role: 'user', content: '{{question}}' },
        ],
        llm_config: { model: 'mock/examples', temperature: 0.5 },
        template_format: 'mustache',
      },
    },
  }
}
