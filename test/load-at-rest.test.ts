import { execFileSync } from 'node:child_process'
import { expect } from 'chai'

/** Packages that a start does without, each with what it alone brings. */
const LATER = ['ajv', 'co-body', 'json-p3', 'pako', 'papaparse', 'prom-client']

describe('loading', () => {
  it('a start loads no package that only some requests need, and rest all of them', function () {
    this.timeout(20_000)
    const program = `
      import { createRequire } from 'node:module'
      const loaded = () => Object.keys(createRequire(import.meta.url).cache)
      await import('./src/start.js')
      await import('./src/serve.js')
      const first = loaded()
      const { loadAtRest } = await import('./src/load-at-rest.js')
      const server = setInterval(() => {}, 1000) // rest keeps no process alive
      await loadAtRest()
      clearInterval(server)
      process.stdout.write(JSON.stringify([first, loaded()]))`
    const told = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: new URL('..', import.meta.url),
      encoding: 'utf8',
    })
    const [first, then] = (JSON.parse(told) as string[][]).map(packagesAmong) // what the program above writes
    expect(first).to.deep.equal([])
    expect(then).to.deep.equal(LATER)
  })
})

function packagesAmong(files: readonly string[]): string[] {
  return LATER.filter((name) => files.some((file) => file.includes(`/node_modules/${name}/`)))
}
