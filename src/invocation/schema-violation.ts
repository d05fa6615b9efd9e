import { basename } from 'node:path'
import { Refusal } from '../errors.ts'
import { HandlerFailure } from '../handlers/handler-failure.ts'
import { checkSchema } from '../handlers/worker/check-schema.ts'
import type { WorkerCaller } from '../handlers/worker/long-jobs.ts'
import { handlerTable } from '../handlers/workflows.ts'
import { equalJson } from '../json/diff/equal-json.ts'
import type { JsonObject } from '../json/json.ts'
import { handlerOf } from '../resources/workflows/workflow-handlers.ts'
import { compileSchema, type SchemaCheck } from '../resources/workflows/schemas/compile-schema.ts'
import type { Registry } from '../versioning/registry.ts'
import { type Effective, effective } from './effective.ts'
import { schemaOf } from './runnable.ts'

/** Something that a run would fail with; it may be committed all the same. */
export interface InspectionWarning {
  readonly code: string
  readonly message: string
  readonly target: readonly (string | number)[]
}

/**
 * Says where a workflow's parameters break the schema that it has for them; nothing where it has none. Fails as `checkSchema` does where the
 * schema cannot be used or the check cannot be made.
 */
export async function schemaViolation(
  { data, parameters }: Effective,
  caller: WorkerCaller,
): Promise<readonly InspectionWarning[]> {
  const schema = schemaOf(data, 'parameters')
  if (!schema) return []
  const filled = handlerTable.find(handlerOf(data))?.schemas?.parameters
  const broken =
    filled && equalJson(schema, filled)
      ? checkOf(filled)(parameters)
      : await checkSchema(schema, 'parameters', parameters, caller)
  return broken === undefined
    ? []
    : [warned('schema_violation', `The parameters break their schema: ${broken}`)]
}

/** As `inspect` warns of it. */
export function warned(code: string, message: string): InspectionWarning {
  return { code, message, target: ['parameters'] }
}

/**
 * What `schemaViolation` says of data that was committed just now, what it embeds in its place. A commit that is stored does not fail for
 * its check (interface 7.18): nothing is said where an embed points at nothing, which is a warning of its own, or where the check cannot be made now.
 */
export async function committedViolation(
  registry: Registry,
  data: JsonObject,
): Promise<readonly InspectionWarning[]> {
  if (!schemaOf(data, 'parameters')) return []
  const project = basename(registry.store.folder)
  try {
    const whole = await effective(registry, { caller: READER }, { data })
    return await schemaViolation(whole, { project, signal: NEVER, isPatient: false })
  } catch (error) {
    if (error instanceof Refusal) return []
    if (error instanceof HandlerFailure) return [warned('schema_violation', error.message)]
    throw error
  }
}

/** Embeds are filled in for every sender: warnings are withheld from a key that may not read (http/routing/answers.ts). */
const READER = { mayRead: true, mayWrite: false }

/** It is stored, whoever waits for the answer; the check ends by itself. */
const NEVER = new AbortController().signal

/** The checks of our own schemas, which are known to be quick. */
const checks = new WeakMap<JsonObject, SchemaCheck>()

function checkOf(schema: JsonObject): SchemaCheck {
  const known = checks.get(schema)
  if (known) return known
  const made = compileSchema(schema, 'parameters')
  checks.set(schema, made)
  return made
}
