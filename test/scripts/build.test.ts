import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'

const CONFIG = {
  compilerOptions: { rootDir: '.', outDir: 'dist', module: 'nodenext', target: 'es2023', types: [] },
  include: ['src'],
}

describe('scripts/build', () => {
  let root: string

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'branchpoint-build-'))
    for (const name of ['scripts', 'src', 'node_modules']) mkdirSync(join(root, name))
    cpSync('scripts/build.mjs', join(root, 'scripts/build.mjs'))
    symlinkSync(join(process.cwd(), 'node_modules/typescript'), join(root, 'node_modules/typescript'))
    writeFileSync(join(root, 'package.json'), '{"type":"module"}')
    writeFileSync(join(root, 'package-lock.json'), '{}')
    writeFileSync(join(root, 'tsconfig.json'), JSON.stringify(CONFIG))
    writeFileSync(join(root, 'src/kept.ts'), 'export const kept: number = 1\n')
    writeFileSync(join(root, 'src/gone.ts'), 'export const gone: number = 1\n')
  })

  afterEach(() => rmSync(root, { recursive: true, force: true }))

  const build = () => spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, encoding: 'utf8' })
  const built = (name: string): string => join(root, 'dist/src', name)
  /** Gives a file a time that is later than any build. */
  const touch = (name: string): void => {
    const later = new Date(Date.now() + 60_000)
    utimesSync(join(root, name), later, later)
  }

  it('builds what has changed, says so, and is silent where nothing has', () => {
    expect(build())
      .to.include({ status: 0, stdout: '' })
      .and.have.property('stderr')
      .that.matches(/^building/)
    expect(readFileSync(built('kept.js'), 'utf8')).to.include('kept = 1')
    expect(build()).to.include({ status: 0, stdout: '', stderr: '' })
    writeFileSync(join(root, 'src/kept.ts'), 'export const kept: number = 2\n')
    touch('src/kept.ts')
    expect(build().stderr).to.match(/^building/)
    expect(readFileSync(built('kept.js'), 'utf8')).to.include('kept = 2')
  })

  it('removes what was built from a source that is gone', () => {
    build()
    rmSync(join(root, 'src/gone.ts'))
    touch('src')
    expect(build().status).to.equal(0)
    expect([existsSync(built('gone.js')), existsSync(built('kept.js'))]).to.deep.equal([false, true])
  })

  it('puts the program into few files, anew where its sources have changed or the compiler has written what starts it', () => {
    mkdirSync(join(root, 'src/cli'))
    cpSync('scripts/server.vite.config.ts', join(root, 'scripts/server.vite.config.ts'))
    cpSync('scripts/notices', join(root, 'scripts/notices'), { recursive: true })
    // What vite needs lies beside it in the real folder.
    for (const name of ['vite', 'swagger-ui-dist'])
      symlinkSync(join(process.cwd(), 'node_modules', name), join(root, 'node_modules', name))
    writeFileSync(
      join(root, 'src/place.ts'),
      "export const place = new URL('beside.txt', import.meta.url).pathname\n",
    )
    writeFileSync(join(root, 'src/lazy.ts'), "export { place } from './place.js'\n")
    writeFileSync(
      join(root, 'src/main.ts'),
      "import { kept } from './kept.js'\nconsole.log(kept, (await import('./lazy.js')).place)\n",
    )
    writeFileSync(join(root, 'src/cli/main.ts'), "import '../main.js'\n")
    const started = (name: string): string => spawnSync(process.execPath, [built(name)]).stdout.toString()
    const whole = () => readFileSync(built('main.js'), 'utf8')
    expect(build()).to.include({ status: 0 })
    const files = () => readdirSync(join(root, 'dist/server'))
    for (const name of ['main.js', 'cli/main.js'])
      expect(started(name), name).to.equal(`1 ${realpathSync(built('.'))}/beside.txt\n`)
    expect(files()).to.include('.build-info')
    expect(readdirSync(join(root, 'dist/swagger-ui'))).to.include.members(['swagger-ui-bundle.js', 'LICENSE'])
    expect(build()).to.include({ status: 0, stderr: '' })
    const before = whole()

    const later = new Date(Date.now() + 60_000)
    writeFileSync(built('main.js'), "console.log('of the compiler')\n")
    utimesSync(built('main.js'), later, later)
    build()
    expect(whole()).to.equal(before)

    writeFileSync(join(root, 'src/kept.ts'), 'export const kept: number = 2\n')
    touch('src/kept.ts')
    build()
    expect(started('main.js')).to.match(/^2 /)
    // Nothing is left of the bundle before.
    expect(files().filter((name) => name.startsWith('lazy') && name.endsWith('.js'))).to.have.lengthOf(1)
  })

  it('fails with what the compiler says, and again until the source is mended', () => {
    writeFileSync(join(root, 'src/kept.ts'), 'export const kept: number = "one"\n')
    for (let turn = 0; turn < 2; turn++) {
      const { status, stderr } = build()
      expect(status).to.not.equal(0)
      expect(stderr).to.match(/kept\.ts.*TS2322/)
    }
  })

  it('waits for a build that is under way and says so', async () => {
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    writeFileSync(join(root, 'node_modules/.build-lock'), String(other.pid))
    const waiting = spawn(process.execPath, ['scripts/build.mjs'], { cwd: root })
    const [said] = (await once(waiting.stderr, 'data')) as [Buffer]
    expect(said.toString()).to.equal('another build is under way; waiting for it …\n')
    other.kill('SIGKILL') // it died without giving the lock back
    expect(await once(waiting, 'exit')).to.deep.equal([0, null])
    expect(existsSync(built('kept.js'))).to.equal(true)
  })

  it('npm start says so, too, and starts what is built then', async () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>
    }
    writeFileSync(
      join(root, 'package.json'),
      JSON.stringify({ type: 'module', scripts: { start: scripts['start'] } }),
    )
    writeFileSync(join(root, 'src/main.ts'), "console.log('started')\n")
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    writeFileSync(join(root, 'node_modules/.build-lock'), String(other.pid))
    const starting = spawn('npm', ['start', '--silent'], { cwd: root })
    let [stdout, stderr] = ['', '']
    starting.stdout.on('data', (piece) => (stdout += String(piece)))
    starting.stderr.on('data', (piece) => {
      stderr += String(piece)
      if (stderr.includes('another build')) other.kill('SIGKILL')
    })
    expect(await once(starting, 'close')).to.deep.equal([0, null])
    expect(stdout).to.equal('started\n')
    expect(stderr).to.match(
      /another build is under way; waiting for it …\n[^]*building, since the sources have changed …\n/,
    )
  })

  it('leaves a build as it is where there is no compiler, and says what to do where there is no build', () => {
    build()
    rmSync(join(root, 'node_modules/typescript'))
    touch('src/kept.ts')
    expect(build()).to.include({ status: 0, stderr: '' })
    rmSync(join(root, 'dist'), { recursive: true })
    expect(build()).to.include({ status: 1 }).and.have.property('stderr').that.includes('npm ci')
  })
})
