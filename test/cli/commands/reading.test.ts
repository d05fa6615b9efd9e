import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { harmless, paint, shownTime, terminalOf } from '../../../src/cli/command/terminal.ts'
import { textTable } from '../../../src/cli/command/text-table.ts'
import { ADMIN_KEY, type RunningService, startService } from '../../support/servers/service.ts'
import { runHere } from '../command-here.ts'

const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('commands that read from a server', () => {
  let service: RunningService
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'reading-'))
    service = await startService()
    const made = await service.post('/simple/applications/', {
      application: { slug: 'bot', name: 'Bot', tags: { team: 'billing' }, data: prompt('Be kind.') },
    })
    const { variant_id: variant } = made.body.application
    const exact = `{"application_revision_commit": {"application_variant_id": "${variant}", "message": "Cooler",
      "data": ${JSON.stringify(prompt('Be brief.')).replace('"seed":1', '"seed":12345678901234567890.0')}}}`
    expect((await service.post('/applications/revisions/commit', exact)).status).to.equal(200)
    await service.post('/applications/revisions/deploy', {
      application_revision_ref: { slug: 'bot', version: 1 },
      environment_ref: { slug: 'production' },
      message: 'First release',
    })
    await service.post('/variants/fork', {
      application_variant: { slug: 'warmer' },
      application_variant_ref: { id: variant },
    })
    const rows = (capital: string) => ({
      testcases: [{ data: { country: 'Peru', capital, testcase_dedup_id: 'p' } }],
    })
    const { testset } = (
      await service.post('/simple/testsets/', { testset: { slug: 'cities', data: rows('Lim') } })
    ).body
    await service.put(`/simple/testsets/${testset.id}`, { testset: { id: testset.id, data: rows('Lima') } })
    await service.post('/simple/testsets/', { testset: { slug: 'twice', data: rows('x') } })
    const one = { parameters: { prompt: { messages: [{ role: 'user', content: 'One\nline' }] } } }
    await service.post('/simple/workflows/', { workflow: { slug: 'twice', data: one } })
    await service.post('/simple/evaluators/', { evaluator: { slug: 'exact', template: 'auto_exact_match' } })
  })
  after(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const environment = (): Record<string, string> => ({
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    BRANCHPOINT_URL: service.url,
    BRANCHPOINT_KEY: ADMIN_KEY,
  })
  const run = (line: string) => runHere(line.split(' '), { env: environment(), cwd: folder })
  const said = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await run(line)
    expect([code, stderr], line).to.deep.equal([0, ''])
    return stdout
  }
  const refused = async (line: string): Promise<[number, string]> => {
    const { code, stdout, stderr } = await run(line)
    expect(stdout, line).to.equal('')
    return [code, stderr]
  }

  it('get prints messages, the head of the default variant unless the name says which', async () => {
    const whole = 'system:\nBe brief.\n\nplaceholder:\nhistory\n\nuser:\n{{question}}\nNow.\n'
    expect(await said('get bot')).to.equal(whole)
    expect(await said('get prompts/bot')).to.equal(whole)
    expect(await said('get bot@production')).to.equal(whole.replace('brief', 'kind'))
    expect(await said('get bot@1')).to.contain('Be kind.')
    expect(await said('get bot:warmer')).to.equal(whole)
    expect(await said('get bot:warmer@1')).to.contain('Be kind.')
    expect(await said('get bot@2 --message system')).to.equal('Be brief.\n')
    expect(await said('get bot --message 3')).to.equal('{{question}}\nNow.\n')
    expect(await said('get workflows/twice')).to.equal('One\nline\n')
  })

  it('get prints what has no messages as JSON, and with --json the answer as the server sent it', async () => {
    expect(JSON.parse(await said('get exact'))).to.have.property('uri', 'svc:builtin:auto_exact_match:v0')
    expect(JSON.parse(await said('get cities@1')).testcases[0].data.capital).to.equal('Lim')
    const whole = await said('get bot --json')
    expect(whole).to.contain('"seed":12345678901234567890.0')
    const { id } = JSON.parse(whole).application_revision
    const sent = await service.post('/applications/revisions/retrieve', { application_revision_ref: { id } })
    expect(JSON.parse(whole).application_revision.data).to.deep.equal(sent.body.application_revision.data)
  })

  it('get names what is near, what is meant by several, and the forms of names', async () => {
    const [code, sentence] = await refused('get bott')
    expect([code, sentence]).to.deep.equal([
      1,
      'There is no application with the slug "bott". Did you mean "bot"?\n',
    ])
    expect(await refused('get twice')).to.deep.equal([
      1,
      'Several have the name "twice": workflows/twice, testsets/twice. Write one of these.\n',
    ])
    expect((await refused('get bot@7'))[1])
      .to.contain('version 7')
      .and.contain('is 2')
    expect((await refused('get bot@nowhere'))[1]).to.contain('nowhere')
    expect((await refused('get bot --message tool'))[1]).to.contain(
      'its messages are system, placeholder, user',
    )
    for (const [line, sentence] of [
      ['get bot@production@2', '"bot@production@2" is not a name: write NAME, NAME@version'],
      ['get snippets/bot', '"snippets/bot" is not a name'],
      ['get bot:warmer@production', 'names a variant and an environment'],
      ['get bot exact', '"exact" is one word too many'],
      ['get bot --store x', '--store names a folder, and this command asks a server'],
      ['list prompt', 'There is no command "prompt". Did you mean "prompts"?'],
      ['list --limit 0', '--limit: "0" is not a whole number'],
      ['diff bot', 'Name two versions.'],
    ] as const) {
      const [status, stderr] = await refused(line)
      expect(status, line).to.equal(2)
      expect(stderr, line).to.contain(sentence)
    }
  })

  it('list prints a table, also into a pipe, and --json the answer', async () => {
    expect(await said('list')).to.match(/^NAME +TITLE +DEPLOYED +CHANGED\nbot +Bot +production @1 +20\S+Z\n$/)
    expect(await said('list testsets')).to.match(/^NAME +TITLE +CHANGED\ntwice +20\S+Z\ncities +20\S+Z\n$/)
    expect(await said('list evaluators')).to.contain('exact')
    expect(
      JSON.parse(await said('list environments --json')).environments.map((it: { slug: string }) => it.slug),
    ).to.include('staging')
    const { stdout, stderr } = await run('list testsets --limit 1')
    expect([stdout.split('\n').length, stderr]).to.deep.equal([3, 'There is more: --limit 2 shows it.\n'])
    expect(await run('list queries')).to.deep.include({
      code: 0,
      stdout: '',
      stderr: 'There are no queries: no query is in the project.\n',
    })
  })

  it('list says when the newest version was made, by which it is ordered', async () => {
    const body = { slug: 'later', template: 'auto_exact_match' }
    const { id, created_at: created } = (await service.post('/simple/evaluators/', { evaluator: body })).body
      .evaluator
    // Times of commits are whole seconds.
    while (Math.floor(Date.now() / 1000) === Math.floor(Date.parse(created) / 1000)) await pause(20)
    const edit = { id, data: { parameters: { correct_answer_key: 'capital' } } }
    expect((await service.put(`/simple/evaluators/${id}`, { evaluator: edit })).status).to.equal(200)
    const [, , changed = ''] = /^later +(\S+ +)?(20\S+Z)$/m.exec(await said('list evaluators')) ?? []
    expect(Date.parse(changed)).to.be.above(Date.parse(created))
    expect(await said('list evaluators --json')).to.not.contain('"latest"')
  })

  it('log prints the versions of a variant, from the one that is named', async () => {
    expect(await said('log bot')).to.match(
      /^VERSION +WHEN +WHO +WHAT\n@2 +20\S+Z +admin +Cooler\n@1 +20\S+Z +admin +First revision\n$/,
    )
    expect(await said('log bot:warmer')).to.contain('@2 ')
    expect(await said('log bot@production')).to.not.contain('@2 ')
    expect(JSON.parse(await said('log bot@1 --json')).application_revisions).to.have.length(1)
    expect((await run('log bot --limit 1')).stderr).to.equal('There is more: --limit 2 shows it.\n')
  })

  it('show prints the record: title, tags, variants, deployments and versions', async () => {
    const shown = await said('show bot')
    expect(shown).to.match(
      /^prompt +bot\ntitle +Bot\ntags +team: billing\nid +[0-9a-f-]{36}\nvariants +\S+, \S+\n/,
    )
    expect(shown).to.match(/\n\nDEPLOYED .*\nproduction +@1 +1 +20\S+Z +admin +First release\n/)
    expect(shown).to.match(/\n\nVERSION .*\n@2 .* Cooler\n@1 .* First revision\n$/)
    const record = JSON.parse(await said('show bot --json'))
    expect(record).to.have.keys('application', 'application_variants', 'application_revisions', 'deployments')
  })

  it('diff prints changed lines and rows, and exits with 0', async () => {
    const whole = await said('diff bot@production bot')
    expect(whole)
      .to.contain('--- a/prompt/system.md\n+++ b/prompt/system.md\n')
      .and.contain('\n-Be kind.\n+Be brief.')
    expect(await said('diff bot@1 @2')).to.equal(whole)
    expect(await said('diff cities@1 @2')).to.match(/^- .*"Lim".*\n\+ .*"Lima".*\n$/)
    expect(JSON.parse(await said('diff bot@1 bot@2 --json')).diff.patch).to.be.an('array')
    expect(await run('diff bot bot@2')).to.include({
      code: 0,
      stdout: '',
      stderr: 'Nothing differs between bot@2 and bot@2.\n',
    })
    expect((await refused('diff bot cities'))[0]).to.equal(1)
  })

  it('search looks in a folder, and with /** below it, too; nothing found exits with 1', async () => {
    for (const [slug, in_folder] of [
      ['first-line', 'support'],
      ['second-line', 'support/tier-2'],
      ['outside', 'sales'],
    ])
      await service.post('/simple/workflows/', {
        workflow: { slug, folder: in_folder, data: prompt('Call the zebra.') },
      })
    const found = async (line: string): Promise<unknown> => {
      const { code, stdout } = await run(`search zebra ${line}--jsonl`)
      const hits = stdout.split('\n').filter((it) => it !== '')
      return [code, hits.map((hit) => JSON.parse(hit).artifact.slug).sort()]
    }
    expect(await found('')).to.deep.equal([0, ['first-line', 'outside', 'second-line']])
    expect(await found('--folder support ')).to.deep.equal([0, ['first-line']])
    expect(await found('--folder support/** ')).to.deep.equal([0, ['first-line', 'second-line']])
    expect(await found('--folder support/tier-3 ')).to.deep.equal([1, []])
    const refused = await run('search zebra --folder support/../sales')
    expect(refused.code).to.equal(1)
    expect(refused.stderr).to.contain('body.folder: the folder "support/../sales" has the part ".."')
  })

  it('ends quietly if the reader of its output has ended', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'get', 'bot', '--json'], { env: environment() })
    child.stdout.destroy()
    const code = new Promise((resolve) => child.once('close', resolve))
    expect([await text(child.stderr), await code]).to.deep.equal(['', 0])
  })

  it('fits a terminal of 40 columns, with the pager of PAGER, colours unless NO_COLOR, and relative times', async function () {
    if (spawnSync('script', ['--version']).status !== 0) this.skip()
    const onTerminal = async (line: string, more: Record<string, string> = {}): Promise<string> => {
      const command = `stty rows 3 cols 40; exec ${process.execPath} ${PROGRAM} ${line}`
      const env = { ...environment(), TERM: 'xterm', ...more }
      const child = spawn('script', ['-qec', command, '/dev/null'], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      return (await text(child.stdout)).replaceAll('\r', '')
    }
    const paged = await onTerminal('show bot', { PAGER: 'sed "s/^/> /"' })
    expect(paged).to.contain('> VERSION').and.contain('> @2').and.contain('> WHY       First release')
    const coloured = await onTerminal('diff bot@1 bot')
    expect(coloured).to.contain('\x1b[32m+Be brief.\x1b[0m')
    expect(paged).to.match(/(?:just now|minutes? ago)/)
    const plain = await onTerminal('log bot', { NO_COLOR: '1', PAGER: 'sed "s/^/> /"' })
    expect(plain).to.contain('> VERSION').and.not.contain('\x1b')
    for (const line of plain.split('\n')) expect(line.length, line).to.be.at.most(42) // with the pager's own two
  })
})

describe('what a terminal is shown', () => {
  const terminal = terminalOf({ isTTY: true, columns: 40, rows: 10 }, {})

  it('is a table whose widest cells are cut, and paragraphs if that is not enough', () => {
    const rows = [
      ['NAME', 'TITLE'],
      ['bot', 'A long title that goes on'],
      ['größe', '中文字中文字'],
    ]
    expect(textTable(rows)).to.equal('NAME   TITLE\nbot    A long title that goes on\ngröße  中文字中文字')
    expect(textTable(rows, 20)).to.equal('NAME   TITLE\nbot    A long title…\ngröße  中文字中文字')
    expect(textTable(rows, 15)).to.equal(
      'NAME   bot\nTITLE  A long title that goes on\n\nNAME   größe\nTITLE  中文字中文字',
    )
  })

  it('has no characters that steer it, colours only where they are wanted, and times of this place', () => {
    expect(harmless('a\x1b[31m\tb\nc')).to.equal('a�[31m\tb\nc')
    expect(paint(terminal, 'red', 'x')).to.equal('\x1b[31mx\x1b[0m')
    for (const none of [
      terminalOf({ isTTY: true }, { NO_COLOR: '1' }),
      terminalOf({ isTTY: true }, { TERM: 'dumb' }),
      terminalOf({}, {}),
    ])
      expect(paint(none, 'red', 'x')).to.equal('x')
    const now = Date.parse('2026-03-10T12:00:00Z')
    const shown = (date: string) => shownTime(date, terminal, now)
    expect(shown('2026-03-10T11:59:30Z')).to.equal('just now')
    expect(shown('2026-03-10T11:59:00Z')).to.equal('1 minute ago')
    expect(shown('2026-03-08T10:00:00Z')).to.equal('2 days ago')
    expect(shown('2026-01-08T10:00:00Z')).to.match(/^2026-01-0[789] \d\d:00$/)
    expect(shownTime('2026-01-08T10:00:00Z', terminalOf({}, {}))).to.equal('2026-01-08T10:00:00Z')
  })
})

function prompt(system: string): object {
  const messages = [
    { role: 'system', content: system },
    { role: 'placeholder', name: 'history' },
    { role: 'user', content: '{{question}}\nNow.' },
  ]
  return { uri: 'svc:builtin:completion:v0', parameters: { prompt: { messages, llm_config: { seed: 1 } } } }
}
