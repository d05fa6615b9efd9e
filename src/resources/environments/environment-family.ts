import type { DocumentDefinition } from '../../versioning/family/document-family.ts'
import { documentFamily } from '../../versioning/family/document-family.ts'
import { acceptEnvironmentData, acceptEnvironmentInTurns } from './environment-data.ts'
import { applyEnvironmentDelta } from './environment-delta.ts'
import {
  REFERENCES_FILE,
  decodeEnvironment,
  encodeEnvironment,
  isEnvironmentFile,
} from './environment-files.ts'
import { environmentPins } from './environment-pins.ts'
import { presentEnvironment } from './present-environment.ts'

/** What an environment's payload is: its `data` object, a map of pins, and how it lies in a file. */
export const environmentDocument: DocumentDefinition = {
  name: 'environment',
  folder: 'environments',
  roles: ['is_guarded'],
  flagNames: [],
  guardFlag: 'is_guarded',
  ownsFile: isEnvironmentFile,
  file: REFERENCES_FILE,
  boundedBy: 'keys',
  encode: encodeEnvironment,
  decode: decodeEnvironment,
  accept: acceptEnvironmentData,
  acceptInTurns: acceptEnvironmentInTurns,
  applyDelta: applyEnvironmentDelta,
  flags: () => ({}),
  // A pin is one thing: half of one and half of another would be a deployment that nobody made.
  mergeRules: { isWhole: (path) => path.length === 2 },
  pins: environmentPins,
  present: presentEnvironment,
}

/** Environments: what is deployed, and the history of it (interface 9.1). */
export const environmentFamily = documentFamily(environmentDocument)
