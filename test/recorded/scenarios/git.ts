import { type GitStep, type Scenario, type Step, edit, get, gitStep, post } from '../harness/scenario.ts'

/**
 * What the git program says and what a push comes to. The bytes of the protocol are not recorded, since they depend on the
 * version of git.
 */
export const gitScenarios: readonly Scenario[] = [
  { name: 'git', steps: () => [...clones(), ...pushes(), ...refusals(), ...addresses()] },
  { name: 'git-testsets', steps: testsets },
]

const BOT = '<server>/git/workflows/bot.git'
const inWork: Partial<GitStep> = { in: 'work' }
const push = (title: string, ...args: readonly string[]): Step => gitStep(title, ['push', ...args], inWork)
const back = (title: string, to = 'origin/bot'): Step => gitStep(title, ['reset', '-q', '--hard', to], inWork)

function clones(): Step[] {
  return [
    post('a prompt', '/simple/applications', { application: { slug: 'bot', data: prompt() } }, { as: 'bot' }),
    post(
      'its second version',
      '/workflows/revisions/commit',
      {
        workflow_revision: { message: 'Two', delta: { set: { parameters: { n: 1 } } } },
        workflow_variant_ref: { slug: 'bot' },
      },
      { as: 'second' },
    ),
    gitStep('ls-remote', ['ls-remote', BOT]),
    gitStep('ls-remote with a key that may only read', ['ls-remote', BOT], { key: 'read' }),
    gitStep('ls-remote with a key that may only write', ['ls-remote', BOT], { key: 'write' }),
    gitStep('ls-remote with a key that nobody has', ['ls-remote', BOT], { key: 'unknown' }),
    gitStep('ls-remote of what is not there', ['ls-remote', '<server>/git/workflows/nobody.git']),
    gitStep('ls-remote of no family', ['ls-remote', '<server>/git/things/bot.git']),
    gitStep('clone', ['clone', '-q', BOT, 'work']),
    gitStep('the log of the clone', ['log', '--format=%H %an <%ae> %s'], inWork),
    gitStep('the tree of the clone', ['ls-tree', '-r', 'HEAD'], inWork),
    gitStep('the refs of the clone', ['for-each-ref', '--format=%(refname) %(objectname)'], inWork),
    gitStep('clone as a mirror', ['clone', '-q', '--mirror', BOT, 'mirror']),
    gitStep('the refs of the mirror', ['for-each-ref', '--format=%(refname) %(objectname)'], {
      in: 'mirror',
    }),
    gitStep('clone one commit deep', ['clone', '-q', '--depth', '1', BOT, 'shallow']),
    gitStep('the log of the shallow clone', ['log', '--format=%s'], { in: 'shallow' }),
  ]
}

function pushes(): Step[] {
  return [
    edit('change a text', 'work', {
      files: { 'prompt/system.md': 'You answer briefly.\n' },
      message: 'Shorter',
    }),
    push('push one commit', 'origin', 'bot'),
    push('push nothing new', 'origin', 'bot'),
    edit('a branch', 'work', {
      branch: 'bolder',
      files: { 'prompt/system.md': 'You answer boldly.\n' },
      message: 'Bolder',
    }),
    push('push a new branch', 'origin', 'bolder'),
    gitStep('make a tag', ['tag', 'calm'], inWork),
    push('push a tag', 'origin', 'calm'),
    gitStep('make a tag with a message', ['tag', '-a', '-m', 'Calmer', 'calmer'], inWork),
    push('push a tag with a message', 'origin', 'calmer'),
    post('the history after the pushes', '/workflows/graph', { workflow_ref: { slug: 'bot' } }),
    post('the pushed branch over REST', '/workflows/revisions/retrieve', {
      workflow_variant_ref: { slug: 'bolder' },
    }),
    get('where it comes from', '/workflows/revisions/calm/provenance'),
    edit('a name with a colon', 'work', { files: { 'files/a:b.txt': 'x\n' }, message: 'Colon' }),
    push('push a name with a colon', 'origin', 'bolder'),
    gitStep('go back to the first branch', ['checkout', '-q', 'bot'], inWork),
    edit('two commits', 'work', { files: { 'prompt/user.md': '{{question}}?\n' }, message: 'Ask' }),
    edit('the second of them', 'work', { files: { 'prompt/user.md': '{{question}}!\n' }, message: 'Shout' }),
    push('push two commits and a branch at once', 'origin', 'bot', 'bot:refs/heads/louder'),
    post('a version over REST', '/workflows/revisions/commit', {
      workflow_revision: { message: 'Meanwhile', delta: { set: { parameters: { n: 2 } } } },
      workflow_variant_ref: { slug: 'bot' },
    }),
    edit('a commit beside it', 'work', { files: { 'prompt/user.md': 'Beside\n' }, message: 'Beside' }),
    push('push what has parted', 'origin', 'bot'),
    push('push it by force', '--force', 'origin', 'bot'),
    gitStep('fetch what is new', ['fetch', '-q', 'origin'], inWork),
    gitStep('merge it as git does', ['merge', '-q', '-m', 'Merge', 'origin/bot'], inWork),
    push('push a merge whose first parent is ours', 'origin', 'bot'),
    back('start from what is there'),
  ]
}

function refusals(): Step[] {
  const refused = (what: string, files: Readonly<Record<string, string | null>>): Step[] => [
    edit(`write ${what}`, 'work', { files, message: `With ${what}` }),
    push(`push ${what}`, 'origin', 'bot'),
    back(`undo ${what}`),
  ]
  return [
    push('delete a branch', 'origin', ':bolder'),
    push('delete a tag', 'origin', ':refs/tags/calm'),
    push('move a tag', '--force', 'origin', 'bot:refs/tags/calm'),
    push('push a branch of no slug', 'origin', 'bot:refs/heads/Not-A-Slug'),
    push('push an environment', 'origin', 'bot:refs/environments/production'),
    push('push what the registry keeps', 'origin', 'bot:refs/meta/artifact'),
    push('push notes', 'origin', 'bot:refs/notes/mine'),
    push('push another ref', 'origin', 'bot:refs/mine/x'),
    push('go back by force', '--force', 'origin', 'HEAD~1:refs/heads/bot'),
    push('push a tree as a tag', 'origin', 'bot^{tree}:refs/tags/tree'),
    gitStep(
      'fetch what the registry keeps',
      ['fetch', '-q', 'origin', 'refs/meta/artifact:refs/kept/artifact'],
      inWork,
    ),
    push('push a record as a branch', 'origin', 'refs/kept/artifact:refs/heads/record'),
    push('push two of which one is refused', 'origin', 'bot:refs/heads/fine', 'bot:refs/mine/y'),
    push('push two at once or none', '--atomic', 'origin', 'bot:refs/heads/finer', 'bot:refs/mine/z'),
    ...refused('JSON that does not parse', { 'data.json': '{' }),
    ...refused('data that is a list', { 'data.json': '[]\n' }),
    ...refused('no data', { 'data.json': null, prompt: null }),
    ...refused('a text that is gone', { 'prompt/user.md': null }),
    ...refused('a name of a device', { 'files/aux.txt': 'x\n' }),
    gitStep(
      'make a submodule',
      ['update-index', '--add', '--cacheinfo', '160000,4b825dc642cb6eb9a060e54bf8d69288fbee4904,link'],
      inWork,
    ),
    gitStep('commit the submodule', ['commit', '-q', '-m', 'With a submodule'], inWork),
    push('push a submodule', 'origin', 'bot'),
    back('undo the submodule'),
    edit('write what an author will have written', 'work', {
      files: { 'prompt/user.md': 'Later\n' },
      args: ['--date', '2099-01-01T00:00:00+0000'],
    }),
    push('push what an author will have written', 'origin', 'bot'),
    back('undo what is to come'),
    post('archive a variant', '/workflows/variants/bolder/archive'),
    gitStep('a branch from the archived', ['checkout', '-q', 'bolder'], inWork),
    edit('a commit on the archived', 'work', { files: { 'prompt/user.md': 'Archived\n' } }),
    push('push to a variant that is archived', 'origin', 'bolder'),
    gitStep('leave the archived', ['checkout', '-q', 'bot'], inWork),
    edit('an edit with a key that may only read', 'work', { files: { 'prompt/user.md': 'Read\n' } }),
    gitStep('push with a key that may only read', ['push', 'origin', 'bot'], { ...inWork, key: 'read' }),
    gitStep('push with a key that nobody has', ['push', 'origin', 'bot'], { ...inWork, key: 'unknown' }),
    post('archive the artifact', '/workflows/<bot>/archive'),
    push('push to an artifact that is archived', 'origin', 'bot'),
    post('bring the artifact back', '/workflows/<bot>/unarchive'),
    gitStep('push to what is not there', ['push', '<server>/git/workflows/nobody.git', 'bot'], inWork),
  ]
}

function addresses(): Step[] {
  const at = '/git/workflows/bot.git'
  const type = (name: string): object => ({ headers: { 'content-type': name } })
  return [
    get('the dumb protocol', `${at}/info/refs`),
    get('a service of no name', `${at}/info/refs?service=git-archive`),
    get('refs of what is not there', '/git/workflows/nobody.git/info/refs?service=git-upload-pack'),
    get('refs of no family', '/git/things/bot.git/info/refs?service=git-upload-pack'),
    get('refs without a key', `${at}/info/refs?service=git-upload-pack`, { key: 'none' }),
    get('refs to push with a key that may only read', `${at}/info/refs?service=git-receive-pack`, {
      key: 'read',
    }),
    get('a file of the repository', `${at}/HEAD`),
    get('upload-pack by GET', `${at}/git-upload-pack`),
    post('upload-pack by JSON', `${at}/git-upload-pack`),
    post(
      'upload-pack of nothing',
      `${at}/git-upload-pack`,
      '',
      type('application/x-git-upload-pack-request'),
    ),
    post('receive-pack by JSON', `${at}/git-receive-pack`),
    post(
      'receive-pack of nonsense',
      `${at}/git-receive-pack`,
      'nonsense',
      type('application/x-git-receive-pack-request'),
    ),
    post(
      'receive-pack of nothing',
      `${at}/git-receive-pack`,
      '0000',
      type('application/x-git-receive-pack-request'),
    ),
  ]
}

function testsets(): Step[] {
  const refused = (what: string, files: Readonly<Record<string, string | null>>): Step[] => [
    edit(`write ${what}`, 'work', { files, message: `With ${what}` }),
    push(`push ${what}`, 'origin', 'rows'),
    back(`undo ${what}`, 'origin/rows'),
  ]
  return [
    post(
      'a testset',
      '/simple/testsets',
      { testset: { slug: 'rows', data: { testcases: [{ data: { testcase_dedup_id: 'one', a: 1 } }] } } },
      { as: 'rows' },
    ),
    gitStep('clone a testset', ['clone', '-q', '<server>/git/testsets/rows.git', 'work']),
    gitStep('its tree', ['ls-tree', '-r', 'HEAD'], inWork),
    edit('a row more', 'work', {
      files: { 'testcases/02.json': '{"a":2,"testcase_dedup_id":"two"}\n' },
      message: 'More',
    }),
    push('push a row', 'origin', 'rows'),
    ...refused('a row that is no object', { 'testcases/03.json': '7\n' }),
    ...refused('a row that is not canonical', { 'testcases/03.json': '{"b": 1, "a": 2}\n' }),
    ...refused('a row without a dedup id', { 'testcases/03.json': '{"a":3}\n' }),
    ...refused('a row of a dedup id that is there', {
      'testcases/03.json': '{"a":3,"testcase_dedup_id":"one"}\n',
    }),
    ...refused('a file beside the rows', { 'testcases/readme.md': 'x\n' }),
    gitStep('clone an environment', [
      'clone',
      '-q',
      '<server>/git/environments/production.git',
      'production',
    ]),
    edit('a pin of no version', 'production', {
      branch: 'production',
      files: {
        'references.json':
          '{\n  "bot.revision": {\n    "workflow": {\n      "slug": "nobody"\n    }\n  }\n}\n',
      },
    }),
    gitStep('push a pin of no version', ['push', 'origin', 'HEAD:refs/heads/production'], {
      in: 'production',
    }),
  ]
}

function prompt(): object {
  return {
    uri: 'svc:builtin:completion:v0',
    parameters: {
      prompt: {
        messages: [
          { role: 'system', content: 'You answer.\n' },
          { role: 'user', content: '{{question}}\n' },
        ],
        llm_config: { model: 'mock/examples' },
        template_format: 'mustache',
      },
    },
  }
}
