import { type CommandStep, type Scenario, type Step, command, gitStep, post } from '../harness/scenario.ts'

/**
 * What commands print and how they end, asked of the server. Left out: what runs until it is stopped (`serve`, `demo`), a whole evaluation, which notes how long it took, what opens a browser
 * (`open`), and figures of sizes and times (`maintain`, `backup`, `verify`, whose counts depend on what else the store holds).
 */
export const commandScenarios: readonly Scenario[] = [{ name: 'commands', steps: commands }]

const run = (title: string, line: string, options: Partial<CommandStep> = {}): Step =>
  command(title, line === '' ? [] : line.split(' '), options)

function commands(): Step[] {
  const prompt = {
    uri: 'svc:builtin:echo:v0',
    parameters: { prompt: { messages: [{ role: 'system', content: 'One\nTwo\n' }] } },
  }
  const names = [
    ...['serve', 'demo', 'keys', 'open', 'secrets', 'testsets', 'evaluate', 'search', 'blame', 'backup'],
    ...[
      'restore',
      'verify',
      'maintain',
      'canonicalise',
      'trash',
      'completion',
      'login',
      'logout',
      'get',
      'list',
      'show',
    ],
    ...['log', 'diff', 'commit', 'fork', 'merge', 'revert', 'deploy', 'rollback', 'run', 'traces'],
  ]
  return [
    run('no command', ''),
    run('a command that is not there', 'sing'),
    run('a command that is nearly there', 'serch bot'),
    ...names.map((name) => run(`help of ${name}`, `${name} --help`)),
    ...names
      .slice(4, 8)
      .map((name) => run(`an option of ${name} that is not there`, `${name} --nobody-reads`)),
    post(
      'a prompt',
      '/simple/applications',
      { application: { slug: 'bot', name: 'Greeter', data: prompt } },
      { as: 'bot' },
    ),
    run('import a file', 'testsets import rows.csv --slug rows', {
      files: { 'rows.csv': 'a,b\n1,2\n3,4\n' },
    }),
    run('import it again', 'testsets import rows.csv --slug rows --if-changed'),
    run('import from standard input', 'testsets import - --slug lines --type jsonl --message Lines', {
      input: '{"a":1}\n',
    }),
    run('import a file that is not there', 'testsets import nothing.csv --slug rows'),
    run('import a file that is refused', 'testsets import bad.json --slug bad', {
      files: { 'bad.json': '{' },
    }),
    run('import without a slug', 'testsets import rows.csv'),
    run('import with a key that may only read', 'testsets import rows.csv --slug rows', { key: 'read' }),
    run('export a testset', 'testsets export rows --to out.jsonl', { reads: ['out.jsonl'] }),
    run('export to standard output', 'testsets export rows --type csv'),
    run('export what is not there', 'testsets export nobody --to nobody.csv', { reads: ['nobody.csv'] }),
    run('blame', 'blame bot'),
    run('blame as JSON', 'blame bot --json'),
    run('get', 'get bot'),
    run('get as JSON', 'get bot --json'),
    run('get what is nearly there', 'get bots'),
    run('commit', 'commit bot -m Three --set parameters.prompt.messages.0.content=Three'),
    run('log', 'log bot'),
    run('diff', 'diff bot@1 bot'),
    run('deploy', 'deploy bot@1 production'),
    run('deploy without the scope', 'deploy bot production', { key: 'read' }),
    run('roll back', 'rollback bot production'),
    run('list as JSON', 'list --json'),
    run('blame a place', 'blame bot /parameters/prompt/messages/0/content --version 1'),
    run('blame a place that is not there', 'blame bot /nothing'),
    run('blame what is not there', 'blame nobody'),
    run('blame without a key', 'blame bot', { key: 'none' }),
    run('blame with a key that nobody has', 'blame bot', { key: 'unknown' }),
    run('search', 'search greeter --kind application'),
    run('search as JSON', 'search greeter --kind application --json'),
    run('search what is not there', 'search zzzz'),
    run('search nothing', 'search'),
    run('search a kind that is not known', 'search greeter --kind moon'),
    run('list keys with a key that may only read', 'keys list', { key: 'read' }),
    run('make a key without scopes', 'keys create --name me'),
    run('make a key of a scope that is not known', 'keys create --name me --scopes moon'),
    run('revoke a key that is not there', 'keys revoke --name nobody'),
    run('set a secret', 'secrets set TOKEN', { input: 'value\n' }),
    run('set a secret of no name', 'secrets set -', { input: 'value\n' }),
    run('remove a secret', 'secrets remove TOKEN'),
    run('remove it again', 'secrets remove TOKEN'),
    run('the trash, empty', 'trash list'),
    run('remove an artifact', 'trash delete lines --kind testset'),
    run('the trash', 'trash list --json'),
    run('bring it back', 'trash undelete lines'),
    run('remove what is not there', 'trash delete nobody'),
    run('purge what is not there', 'trash purge nobody'),
    run('evaluate what is not there', 'evaluate --testset nobody --application bot --evaluator exact'),
    gitStep('clone the testset', ['clone', '-q', '<server>/git/testsets/rows.git', 'work']),
    run('canonicalise', 'canonicalise work', {
      files: { 'work/testcases/00000003.json': '{"b": 1, "testcase_dedup_id": "x", "a": 2}' },
      reads: ['work/testcases/00000003.json'],
    }),
    run('canonicalise again', 'canonicalise work'),
    run('canonicalise what is not there', 'canonicalise nothing'),
    run('complete in bash', 'completion bash'),
    run('complete in a shell that is not known', 'completion tcsh'),
    run('back up without a place', 'backup'),
    run('verify what is not there', 'verify --store nothing'),
    run('restore from what is not there', 'restore --from nothing --store new'),
  ]
}
