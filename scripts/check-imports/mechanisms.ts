import type { SourceFile } from './source-file.ts'

/** A concern that has one mechanism: what gives another one away, the files where the one is, and what to use in its place. */
interface Mechanism {
  readonly another: RegExp
  readonly at: RegExp
  readonly use: string
}

const MECHANISMS: readonly Mechanism[] = [
  {
    another: /\bsetImmediate\b[^;\n]*from 'node:timers\/promises'/,
    at: /^src\/base\/scheduling\//,
    use: 'yieldToEventLoop of base/scheduling',
  },
  {
    another: /\bspawn\('git'|execFile\w*\('git'/,
    at: /^src\/git\/program\//,
    use: 'git/program/git-process.ts',
  },
  {
    another: /\bnew Worker\(/,
    // a sheet's rows come one batch after the other, which no job of the pool answers; its memory goes with its thread
    at: /^src\/(?:run\/sandbox\/inside|storage\/sqlite)\/|^src\/registry\/testsets\/files\/xlsx-rows/,
    use: 'the worker pool of run/handlers/worker',
  },
  {
    another: /\bnew Histogram\(|\bnew Counter\(/,
    at: /^src\/(?:server\/|http\/request\.ts)/,
    use: 'base/counters.ts',
  },
  {
    // bench: measures without the disk; cli: folders of users' own, such as a backup
    another: /\bholdingLock\(|\block(?:File|IfFree)\(|\bcreateSynced\(/,
    at: /^(?:src\/(?:storage|git|cluster|cli)|scripts\/(?:bench|proofs))\//,
    use: 'the documents of storage/files for what lies in a store outside its repositories',
  },
  {
    another: /setFlagsFromString|--expose-gc/,
    at: /^src\/run\/sandbox\//,
    use: 'no switch of V8 while it runs: it may crash, and nobody documents it',
  },
]

/** A concern has one mechanism (a second one needs a decision record, and a line here). */
export function otherMechanisms(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    MECHANISMS.filter(({ another, at }) => another.test(text) && !at.test(path)).map(
      ({ use }) => `${path} has a way of its own for what there is one of: use ${use}`,
    ),
  )
}
