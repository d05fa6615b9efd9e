import type { Json } from '../../../src/base/json/json.ts'
import { openSandbox } from '../../../src/run/sandbox/open-sandbox.ts'
import { type Sandbox, SandboxFailure, type SandboxJob } from '../../../src/run/sandbox/sandbox.ts'
import { SANDBOX_LIMITS, type SandboxLimits } from '../../../src/run/sandbox/sandbox-limits.ts'

/** A sandbox of the real kind, asked in fewer words. */
export interface TestSandbox extends Pick<Sandbox, 'close'> {
  /** What the script's `evaluate` returns. */
  call(
    runtime: SandboxJob['runtime'],
    script: string,
    args?: readonly Json[],
    owner?: string,
  ): Promise<Json | undefined>
  /** How that fails. */
  failure(
    runtime: SandboxJob['runtime'],
    script: string,
    args?: readonly Json[],
    owner?: string,
  ): Promise<SandboxFailure>
  run: Sandbox['run']
}

export function testSandbox(limits: Partial<SandboxLimits> = {}): TestSandbox {
  const sandbox = openSandbox({ ...SANDBOX_LIMITS, timeoutMs: 20_000, ...limits })
  const { signal } = new AbortController()
  const call: TestSandbox['call'] = (runtime, script, args = [], owner = 'us') =>
    sandbox.run({ runtime, script, entryPoint: 'evaluate', args, owner, signal })
  return {
    call,
    failure: async (...job) => {
      const outcome: unknown = await call(...job).catch((error: unknown) => error)
      if (outcome instanceof SandboxFailure) return outcome
      throw new Error(`Expected the script to fail; it answered ${JSON.stringify(outcome)}.`)
    },
    run: (job) => sandbox.run(job),
    close: () => sandbox.close(),
  }
}
