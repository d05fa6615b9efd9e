import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { countWay } from '../../ways/count-way.ts'
import { longerWays } from '../../ways/longer-ways.ts'
import { type MeasuredProgram, startMeasured } from '../../ways/measured-server.ts'
import { figuresIn, hashIn } from '../../ways/ways-page.ts'

describe('ways that are measured', () => {
  let program: MeasuredProgram | undefined

  afterEach(async () => {
    await program?.stop()
    program = undefined
  })

  it('counts what ran in the process, in a thread that has ended, and in a node process that it started', async () => {
    const { tiny, pid } = await startTiny()
    await tiny.take()
    process.kill(pid, 'SIGUSR2')
    await tiny.wrote(/(done)/)
    const ran = await tiny.take()
    const counted = countWay(ran, [], textOf)
    const names = new Map(
      counted.files.map(({ url, functions }) => [basename(url), functions.map(({ name }) => name)]),
    )
    expect(names.get('tiny-program.js')).to.deep.equal(['', 'work', 'first', 'second'])
    expect(names.get('tiny-thread.js')).to.deep.equal(['inThread'])
    expect(names.get('tiny-child.js')).to.deep.equal(['', 'inChild'])
    expect(counted.files.length).to.equal(3)
    expect(counted.functions).to.equal(7)
    // the handler 1, work 10, first 3 without its comment and blank line, second 4 with the function in it that nobody called
    expect(counted.files.find(({ url }) => url.endsWith('tiny-program.js'))?.lines).to.equal(18)
    expect(counted.lines).to.equal(18 + 3 + 4)

    const without = countWay(
      ran,
      ran.filter(({ name }) => name === 'first'),
      textOf,
    )
    expect(without.functions, 'what also runs at rest is not counted').to.equal(6)
    const again = await tiny.take()
    expect(
      again.map(({ name }) => name),
      'what was counted before is not counted again',
    ).to.not.include('first')
  })

  it('notes in what order functions are first called', async () => {
    const { tiny, pid } = await startTiny()
    await tiny.take()
    process.kill(pid, 'SIGUSR2')
    await tiny.wrote(/(done)/)
    const ran = await tiny.take()
    await tiny.watch(ran.filter(({ name }) => /^\w/.test(name)))
    process.kill(pid, 'SIGUSR2')
    await tiny.wrote(/done\n(done)/)
    const order = await tiny.firstCalls()
    const names = order.map(({ url, start }) => ran.find((it) => it.url === url && it.start === start)?.name)
    expect(names).to.deep.equal(['work', 'second', 'first', 'inChild'])
  })

  it('refuses to count where a process lets nobody look into it', async () => {
    const flag = process.allowedNodeEnvironmentFlags.has('--permission')
      ? '--permission'
      : '--experimental-permission'
    const { tiny } = await startTiny(flag, '--allow-fs-read=*')
    expect(await refusal(tiny)).to.match(/tiny-child\.js was started in a process that lets nobody count/)
  })

  it('says which figure of a way is more than the page allows', () => {
    const page = `<!-- source ${'a'.repeat(64)} -->\n\n| way | files | functions | lines |\n| - | - | - | - |\n| commit | 2 | 1,003 | 9 | a prompt |\n`
    expect(hashIn(page)).to.equal('a'.repeat(64))
    expect(figuresIn(page).get('commit')).to.deep.equal({ files: 2, functions: 1003, lines: 9 })
    const file = { url: 'file:///a.js', functions: [], lines: 1 }
    const way = (files: number, functions: number): object => ({
      name: 'commit',
      counted: { files: Array.from({ length: files }, () => file), functions, lines: 9 },
    })
    const longer = (files: number, functions: number): readonly string[] =>
      longerWays(figuresIn(page), [way(files, functions) as Parameters<typeof longerWays>[1][number]])
    expect(longer(2, 1003)).to.deep.equal([])
    expect(longer(9, 1003))
      .to.have.length(1)
      .and.to.match(/commit runs 9 files.*says 2/)
    expect(longer(9, 2000)).to.have.length(2)
    expect(longerWays(new Map(), [way(2, 1) as Parameters<typeof longerWays>[1][number]])[0]).to.match(
      /no figures/,
    )
  })

  async function startTiny(
    ...flags: readonly string[]
  ): Promise<{ readonly tiny: MeasuredProgram; readonly pid: number }> {
    const path = fileURLToPath(new URL('./tiny-program.js', import.meta.url))
    const tiny = await startMeasured([path, ...flags], { PATH: process.env['PATH'] })
    program = tiny
    return { tiny, pid: Number(await tiny.wrote(/ready (\d+)/)) }
  }
})

function textOf(url: string): string {
  return readFileSync(fileURLToPath(url), 'utf8')
}

async function refusal(tiny: MeasuredProgram): Promise<string> {
  try {
    await tiny.take()
    return 'none'
  } catch (error) {
    return (error as Error).message
  }
}
