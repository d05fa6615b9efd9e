import { isExpected } from '../src/cli/command/is-expected.ts'
import { textTable } from '../src/cli/command/text-table.ts'
import { UsageError } from '../src/cli/command/usage-error.ts'

/** A program that takes too long for `npm test`. It begins where its module is loaded, and reads its options from the command line. */
interface Proof {
  readonly options: string
  readonly summary: string
  /** Whether it has a longer `--help` of its own. */
  readonly explainsItself?: true
  readonly load: () => Promise<unknown>
}

const PROOFS: Readonly<Record<string, Proof>> = {
  kill: {
    options: '[--rounds N] [--seconds N] [--engine postgres]',
    summary: 'kill -9 under load: what was acknowledged is there',
    load: () => import('./proofs/kill.ts'),
  },
  crash: {
    options: '[--cuts N] [--seed S] [--rounds N] [--faults N] [--servers 2]',
    summary: 'a simulated disk that loses, fails and dawdles',
    explainsItself: true,
    load: () => import('./proofs/crash.ts'),
  },
  linear: {
    options:
      '[--rounds N] [--seconds N] [--clients N] [--pushers N] [--servers N] [--engine postgres] [--fault NAME] [--reads R]',
    summary: 'every operation happened at one moment',
    load: () => import('./proofs/linear.ts'),
  },
  engine: {
    options: '[FILE …]',
    summary: 'the tests of the interface over PostgreSQL',
    load: () => import('./proofs/engine.ts'),
  },
  fuzz: {
    options: '[--requests N] [--pushes N] [--damages N] [--departures N] [--sizes N] [--seed S]',
    summary: 'random requests and changed bytes',
    explainsItself: true,
    load: () => import('./proofs/fuzz.ts'),
  },
  index: {
    options: '[--rounds N] [--steps N] [--seed S]',
    summary: 'index.db after kills, power cuts and flipped bytes',
    load: () => import('./proofs/index-file.ts'),
  },
  push: {
    options: '[--pushers N] [--committers N] [--seconds N] [--idle MS]',
    summary: 'pushers and committers on one artifact',
    load: () => import('./proofs/push.ts'),
  },
  model: {
    options: '[--runs N] [--seed S] [--steps N] [--servers N] [--disk] [--quick]',
    summary: 'random histories against a model of the interface',
    explainsItself: true,
    load: () => import('./proofs/model.ts'),
  },
  samples: {
    options: '[TIMES]',
    summary: 'merges and histories beside git, in larger random samples',
    load: () => import('./proofs/samples.ts'),
  },
  soak: {
    options: '[--minutes N] [--csv FILE] [--json FILE]',
    summary: 'a steady mixed load: nothing grows',
    load: () => import('./proofs/soak.ts'),
  },
  web: {
    options: '',
    summary: 'the page in both themes, with a million rows',
    load: () => import('./proofs/web.ts'),
  },
  browsers: {
    options: '[--minutes N] [--seed S]',
    summary: 'random edits of one testset by four browsers',
    load: () => import('./proofs/browsers.ts'),
  },
  mutants: {
    options: '[--only N,N-N,…] [--keep] [--choose] [--seed S] [--reach]',
    summary: 'small faults that the tests must notice',
    explainsItself: true,
    load: () => import('./proofs/mutants.ts'),
  },
  'clients-of-others': {
    options: '[--keep] [--litellm FOLDER]',
    summary: 'LiteLLM reads prompts here, and does with them what is kept',
    load: () => import('./proofs/clients-of-others.ts'),
  },
  package: {
    options: '[--git PROGRAM]',
    summary:
      'the package by npx, in an empty folder: with and without a network, without git, with an older one',
    load: () => import('./proofs/package.ts'),
  },
  image: {
    options: '[--base DIR]',
    summary: 'the steps of deploy/Dockerfile, without Docker, and a server with a read-only root',
    load: () => import('./proofs/image.ts'),
  },
  'mcp-inspector': {
    options: '',
    summary: "agents' clients of others against /mcp and branchpoint mcp",
    load: () => import('./proofs/mcp-inspector.ts'),
  },
  nodes: {
    options: '[--node VERSION]… [SPEC…]',
    summary: 'the test suite under each version of Node',
    explainsItself: true,
    load: () => import('./proofs/nodes.ts'),
  },
}

const USAGE = `Runs a proof, which takes too long for npm test. It ends with 1 if something does not hold.

  npm run proof -- NAME [OPTIONS]

${textTable(Object.entries(PROOFS).map(([name, { options, summary }]) => [`  ${name}`, summary, options]))}

docs/testing.md says what each of them does.`

try {
  const [name = '--help'] = process.argv.splice(2, 1)
  const proof = Object.hasOwn(PROOFS, name) ? PROOFS[name] : undefined
  if (name === '--help') process.stdout.write(`${USAGE}\n`)
  else if (!proof) throw new UsageError(`There is no proof ${JSON.stringify(name)}.`, USAGE)
  else if (process.argv.includes('--help') && !proof.explainsItself)
    process.stdout.write(`npm run proof -- ${name} ${proof.options}: ${proof.summary}\n`)
  else await proof.load()
} catch (error) {
  if (!isExpected(error)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
