import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { Cluster } from '../../../scripts/cluster/cluster.ts'
import { readClusterOptions } from '../../../scripts/cluster/cluster-options.ts'
import { needsPostgres } from '../../support/postgres/needs-postgres.ts'
import { SETTINGS } from '../../../src/settings.ts'

describe('scripts: npm run cluster', () => {
  describe('servers over a PostgreSQL pair, broken on purpose', function () {
    let cluster: Cluster
    const said: string[] = []
    before(async function () {
      needsPostgres(this)
      cluster = await Cluster.start(2, (line) => said.push(line))
    })
    after(() => cluster?.stop())

    /** Asks the balancer, by a connection of its own. */
    const ask = async (path: string, body?: object): Promise<any> => {
      const answer = await fetch(cluster.url + path, {
        method: body ? 'POST' : 'GET',
        headers: {
          authorization: `ApiKey ${cluster.key}`,
          'content-type': 'application/json',
          connection: 'close',
        },
        body: body ? JSON.stringify(body) : null,
      })
      expect(answer.status, path).to.equal(200)
      return answer.json()
    }
    const slugs = async (): Promise<string[]> =>
      (await ask('/applications/query', {})).applications.map(({ slug }: { slug: string }) => slug).sort()
    const create = (slug: string) =>
      ask('/simple/applications/', { application: { slug, data: { parameters: {} } } })

    it('shows where everything is, and each server has what another one took', async () => {
      expect(await cluster.obey({ verb: 'show' })).to.match(
        /balancer +http:.*\n +server 1 +http:.* pid \d+.*\n +server 2 +http.*\n +primary +postgres:.*\n +standby +postgres:/,
      )
      await create('first')
      // Two connections go to two servers.
      expect(await slugs()).to.deep.equal(['first'])
      expect(await slugs()).to.deep.equal(['first'])
    })

    it('goes on without the primary, with all that was acknowledged', async () => {
      expect(await cluster.obey({ verb: 'kill', what: 'primary' })).to.match(
        /answers again \d+\.\d s after the kill/,
      )
      await create('second')
      expect(await slugs()).to.deep.equal(['first', 'second'])
      expect(await cluster.obey({ verb: 'show' })).to.match(/primary +killed\n.*promoted/)
      expect(await cluster.obey({ verb: 'kill', what: 'primary' })).to.include('was killed before')
    })

    it('starts a server that was killed over its folder, and goes on with one that was paused', async () => {
      expect(await cluster.obey({ verb: 'kill', what: '1' })).to.include('Server 1 is killed')
      expect(await cluster.obey({ verb: 'kill', what: '1' })).to.equal('Server 1 does not run.')
      expect(await cluster.obey({ verb: 'start', what: '1' })).to.match(/Server 1 is ready again after/)
      expect(await cluster.obey({ verb: 'start', what: '1' })).to.equal('Server 1 runs already.')
      expect(await cluster.obey({ verb: 'pause', what: '2' })).to.include('Server 2 is paused')
      expect(await cluster.obey({ verb: 'start', what: '2' })).to.equal('Server 2 goes on.')
      expect(await cluster.obey({ verb: 'start', what: '3' })).to.equal('There is no server 3: there are 2.')
      expect(await slugs()).to.deep.equal(['first', 'second'])
    })
  })

  it('takes one order at a time, for what there can be', () => {
    expect(readClusterOptions(['--kill', 'primary']).order).to.deep.equal({ verb: 'kill', what: 'primary' })
    expect(readClusterOptions(['--show']).order).to.deep.equal({ verb: 'show' })
    expect(readClusterOptions([]).servers).to.equal(3)
    for (const [args, sentence] of [
      [['--kill', 'x'], '--kill takes the number of a server, or primary.'],
      [['--pause', 'primary'], '--pause takes the number of a server.'],
      [['--show', '--kill', '1'], 'One order at a time.'],
      [['--servers', '0'], '--servers takes a number from 1 to 9.'],
      [['--burn'], "Unknown option '--burn'"],
    ] as const)
      expect(() => readClusterOptions(args), args.join(' ')).to.throw(sentence)
  })

  it('compose.cluster.yaml and the Dockerfile set only what there is to set', () => {
    const known = new Set<string>(Object.values(SETTINGS).map(({ variable }) => variable))
    const compose = readFileSync('deploy/compose.cluster.yaml', 'utf8')
    const environment = /environment:\n((?: {4}[A-Z_]+: .*\n)+)/.exec(compose)?.[1] ?? ''
    const set = [...environment.matchAll(/^ {4}([A-Z_]+):/gm)].map(([, name = '']) => name)
    const image = readFileSync('deploy/Dockerfile', 'utf8')
    const line = /^ENV (.*)$/m.exec(image)?.[1] ?? ''
    set.push(...line.split(' ').map((it) => it.split('=')[0] ?? ''))
    expect(set).to.include.members(['STORE', 'CACHE_DIR', 'HOST'])
    expect(set.filter((name) => !known.has(name))).to.deep.equal([])
  })
})
