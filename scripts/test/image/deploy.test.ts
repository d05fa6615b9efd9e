import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parse } from 'yaml'
import { SETTINGS } from '../../../src/settings.ts'
import { readDockerfile, settingsOf } from '../../proofs/image/read-dockerfile.ts'

const KNOWN = new Set<string>(Object.values(SETTINGS).map(({ variable }) => variable))

const read = (name: string): string => readFileSync(`deploy/${name}`, 'utf8')
/** As compose reads it: `<<` merges. */
const compose = (name: string): any => parse(read(name), { merge: true })

describe('deploy', () => {
  const instructions = readDockerfile(read('Dockerfile'))
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))
  const image = settingsOf(last)

  it('has an image of slim Debian: another user, one volume, a health check', () => {
    const bases = instructions.filter(({ name }) => name === 'FROM').map(({ rest }) => rest.split(' ')[0])
    expect(bases).to.deep.equal(['node:22-bookworm-slim', 'node:22-bookworm-slim'])
    // By number, so that a cluster can see that it is not root.
    expect(image.user).to.equal('1000')
    expect(image.volumes).to.deep.equal(['/data'])
    expect(image.healthcheck[0]).to.equal('node')
    expect(image.healthcheck.join(' ')).to.include('/health')
    expect([image.entrypoint, image.command]).to.deep.equal([['branchpoint'], ['serve']])
    expect(image.env).to.include({ HOST: '0.0.0.0', STORE_DIR: '/data/store', CACHE_DIR: '/data/cache' })
    expect(Object.keys(image.env).filter((name) => !KNOWN.has(name))).to.deep.equal([])
  })

  it('starts one server with compose.yaml, whose root is read-only and which stores in one volume', () => {
    const { name, services, volumes } = compose('compose.yaml')
    expect([name, Object.keys(services)]).to.deep.equal(['branchpoint-one', ['branchpoint']])
    const { branchpoint } = services
    expect(branchpoint).to.deep.include({
      read_only: true,
      tmpfs: ['/tmp'],
      volumes: ['data:/data'],
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ports: ['127.0.0.1:3000:3000'],
    })
    expect(Object.keys(volumes)).to.deep.equal(['data'])
    expect(existsSync(`deploy/${branchpoint.build.context}/${branchpoint.build.dockerfile}`)).to.equal(true)
    expect(Object.keys(branchpoint.environment).filter((it) => !KNOWN.has(it))).to.deep.equal([])
  })

  it('keeps the three servers over PostgreSQL as a project of the same name, with the same volumes', () => {
    const { name, services, volumes } = compose('compose.cluster.yaml')
    expect(name).to.equal('branchpoint')
    expect(Object.keys(volumes).sort()).to.deep.equal(['cache-1', 'cache-2', 'cache-3', 'primary', 'standby'])
    for (const number of [1, 2, 3]) {
      const server = services[`server-${number}`]
      expect(server.volumes).to.deep.equal([`cache-${number}:/data`])
      expect(server.environment).to.include({ CACHE_DIR: '/data/cache' })
      expect(Object.keys(server.environment).filter((it) => !KNOWN.has(it))).to.deep.equal([])
    }
    expect(Object.keys(services)).to.have.lengthOf(6)
  })

  it('has a unit of systemd that starts what npm installs, as a user of its own', () => {
    const lines = read('branchpoint.service').split('\n')
    const value = (key: string): string =>
      lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1) ?? ''
    const { bin, files } = JSON.parse(readFileSync('package.json', 'utf8'))
    const program =
      /^\/opt\/branchpoint\/node_modules\/\.bin\/(\w+) serve$/.exec(value('ExecStart'))?.[1] ?? ''
    expect(bin).to.have.property(program)
    expect(files).to.include('deploy/branchpoint.service')
    expect([value('User'), value('StateDirectory'), value('NoNewPrivileges')]).to.deep.equal([
      'branchpoint',
      'branchpoint',
      'yes',
    ])
    expect(value('Environment')).to.equal('STORE_DIR=/var/lib/branchpoint/store')
    // It gives the server longer to stop than the server takes (STOP_TIMEOUT_MS, 30 s).
    expect(Number(value('TimeoutStopSec'))).to.be.greaterThan(30)
    // V8 compiles at run time.
    expect(value('MemoryDenyWriteExecute')).to.equal('')
  })
})
