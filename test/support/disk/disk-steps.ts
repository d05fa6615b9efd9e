/** One thing that is about to be done to a simulated disk. */
export interface Step {
  /** 1 for the first. */
  readonly number: number
  readonly call: StepCall
  readonly path: string
}

export type StepCall =
  | 'create'
  | 'write'
  | 'sync'
  | 'synced'
  | 'makeDir'
  | 'rename'
  | 'link'
  | 'remove'
  | 'syncDir'
  | 'dirSynced'
  | 'read'

/** What keeps a step from being done. `isShort`: of a write a part has been done. */
export interface Trouble {
  readonly code: string
  readonly isShort?: boolean
}

/** Is asked before every step, and before every read, which counts as none: whether something goes wrong. */
export type BeforeStep = (step: Step) => Trouble | undefined | void

/** Is asked before a step whose caller can wait: for what, if for anything. */
export type Wait = (step: Omit<Step, 'number'>) => Promise<unknown> | undefined

/** Counts what is done to a disk, and lets a test look on, keep it from being done, or hold it up. */
export class DiskSteps {
  #taken = 0
  #before: BeforeStep = () => undefined
  readonly #waits: Wait[] = []

  get taken(): number {
    return this.#taken
  }

  watch(before: BeforeStep): void {
    this.#before = before
  }

  holdUp(wait: Wait): void {
    this.#waits.push(wait)
  }

  /** Resolves when the step may be taken. */
  async ready(call: StepCall, path: string): Promise<void> {
    for (const wait of this.#waits) await wait({ call, path })
  }

  /** Throws what is wrong with the disk, if anything is. */
  take(call: StepCall, path: string): void {
    this.#ask({ number: ++this.#taken, call, path })
  }

  read(path: string): void {
    this.#ask({ number: this.#taken, call: 'read', path })
  }

  #ask(step: Step): void {
    const trouble = this.#before(step)
    if (trouble) throw new StepFailed(trouble, step)
  }
}

/** What a step that is kept from being done throws: an error like node's. */
export class StepFailed extends Error implements NodeJS.ErrnoException {
  readonly code: string
  readonly syscall: string
  readonly path: string
  readonly isShort: boolean

  constructor({ code, isShort = false }: Trouble, { call, path }: Step) {
    super(`${code}: ${call} '${path}'`)
    this.code = code
    this.syscall = call
    this.path = path
    this.isShort = isShort
  }
}
