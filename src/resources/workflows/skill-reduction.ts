import {
  entriesOf,
  fromEntries,
  getKey,
  isJsonObject,
  keysOf,
  withKey,
  withoutKey,
  type JsonObject,
} from '../../json/json.ts'
import type { AcceptedDocument } from '../../versioning/family/document-family.ts'

/**
 * The data of a skill, which is content and never runs: `uri`, `parameters` and `schemas.parameters` stay
 * (interface 7.12), and a warning names each thing left out.
 */
export function reduceToSkill(data: JsonObject): AcceptedDocument {
  const sent = getKey(data, 'schemas')
  const schemas: JsonObject = isJsonObject(sent) ? sent : {}
  const kept = pick(data, fieldsOfSkill)
  const keptSchemas = pick(schemas, schemasOfSkill)
  const dropped = [
    ...others(data, fieldsOfSkill).map((key) => [key]),
    ...others(schemas, schemasOfSkill).map((key) => ['schemas', key]),
  ]
  return {
    data:
      keysOf(keptSchemas).length === 0 ? withoutKey(kept, 'schemas') : withKey(kept, 'schemas', keptSchemas),
    warnings: dropped.map((target) => ({
      code: 'not_kept_by_skill',
      message: `${target.join('.')} was left out: a skill never runs and keeps only uri, parameters and schemas.parameters`,
      target,
    })),
  }
}

const fieldsOfSkill: readonly string[] = ['uri', 'parameters', 'schemas']

const schemasOfSkill: readonly string[] = ['parameters']

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  return fromEntries(entriesOf(object).filter(([key]) => keys.includes(key)))
}

function others(object: JsonObject, keys: readonly string[]): readonly string[] {
  return keysOf(object).filter((key) => !keys.includes(key))
}
