import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { git } from '../support/git/git-program.ts'

/** A file of a tree, or a folder of such. */
export interface Files {
  readonly [name: string]: string | Buffer | Files
}

/** What plain git, and whoever has the disk, can put into a repository. */
export class OddGit {
  readonly path: string
  /** The branch that is there. */
  readonly branch: string

  constructor(path: string, branch: string) {
    this.path = path
    this.branch = branch
  }

  git(args: readonly string[], input?: string | Buffer): string {
    return git(this.path, args, input)
  }

  /** Stores these bytes as an object, whatever they are. */
  object(kind: string, bytes: string | Buffer): string {
    return this.git(['hash-object', '-w', '--literally', '-t', kind, '--stdin'], bytes)
  }

  tree(files: Files): string {
    const lines = Object.entries(files).map(([name, content]) =>
      typeof content === 'string' || Buffer.isBuffer(content)
        ? `100644 blob ${this.object('blob', content)}\t${name}`
        : `040000 tree ${this.tree(content)}\t${name}`,
    )
    return this.git(['mktree', '-z'], lines.map((line) => `${line}\0`).join(''))
  }

  head(): string {
    return this.git(['rev-parse', `refs/heads/${this.branch}`])
  }

  /** A commit on the branch whose lines after `tree` and `parent` are these. */
  commit(rest: string | Buffer, { tree = '', parent = `parent ${this.head()}\n` } = {}): void {
    const root = tree || this.git(['rev-parse', `${this.head()}^{tree}`])
    const bytes = Buffer.concat([Buffer.from(`tree ${root}\n${parent}`), Buffer.from(rest)])
    this.ref(`refs/heads/${this.branch}`, this.object('commit', bytes))
  }

  /** A commit of these files on the branch, by somebody sane. */
  files(files: Files): void {
    this.commit(SANE, { tree: this.tree(files) })
  }

  /** Has the file of a ref hold this, which git might refuse to write. */
  ref(ref: string, content: string | Buffer): void {
    this.file(ref, typeof content === 'string' && /^[0-9a-f]{40}$/.test(content) ? `${content}\n` : content)
  }

  /** A file of the repository's own. */
  file(name: string, content: string | Buffer): void {
    const path = join(this.path, name)
    rmSync(path, { recursive: true, force: true })
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }

  run(command: string): void {
    execFileSync('sh', ['-c', command], { cwd: this.path })
  }

  /** The record of the artifact. */
  record(): Record<string, unknown> {
    return JSON.parse(this.git(['show', 'refs/meta/artifact:artifact.json'])) as Record<string, unknown>
  }

  /** Makes the registry's record of the artifact out of these files. */
  meta(files: Files): void {
    const parent = this.git(['rev-parse', 'refs/meta/artifact'])
    const oid = this.object('commit', `tree ${this.tree(files)}\nparent ${parent}\n${SANE}`)
    this.ref('refs/meta/artifact', oid)
  }

  /** The record with something else in it. */
  changedRecord(change: object): void {
    this.meta({ 'artifact.json': JSON.stringify({ ...this.record(), ...change }) })
  }

  packs(suffix: string): string[] {
    return readdirSync(join(this.path, 'objects/pack'))
      .filter((name) => name.endsWith(suffix))
      .map((name) => `objects/pack/${name}`)
  }

  bytes(name: string): Buffer {
    return readFileSync(join(this.path, name))
  }
}

export const SANE = 'author A <a@x> 1700000000 +0000\ncommitter C <c@x> 1700000000 +0000\n\nOdd\n'
