import { isExpected } from '../src/cli/command/is-expected.ts'
import { ask, serveControl } from './cluster/control.ts'
import { Cluster } from './cluster/cluster.ts'
import { CLUSTER_USAGE, readClusterOptions } from './cluster/cluster-options.ts'

/** `npm run cluster`: several servers, a PostgreSQL pair and a balancer on this machine, to be looked at and broken. */
try {
  const options = readClusterOptions(process.argv.slice(2))
  if (options.help) say(CLUSTER_USAGE)
  else if (options.order !== undefined) say(await ask(options.order))
  else await run(options.servers)
} catch (error) {
  if (!isExpected(error)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

async function run(servers: number): Promise<void> {
  say('starting a PostgreSQL primary and its standby …')
  const cluster = await Cluster.start(servers, say)
  const control = await serveControl((order) => cluster.obey(order))
  say(await cluster.obey({ verb: 'show' }))
  say(`
  export BRANCHPOINT_URL=${cluster.url} BRANCHPOINT_KEY=${cluster.key}
  curl -H "Authorization: ApiKey $BRANCHPOINT_KEY" $BRANCHPOINT_URL/projects/current

Break it from another terminal:  npm run cluster -- --kill primary   (--help says what else). Ctrl-C ends all of it.`)
  const end = (): void => {
    control.close()
    void cluster.stop().then(() => process.exit())
  }
  process.once('SIGINT', end)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
