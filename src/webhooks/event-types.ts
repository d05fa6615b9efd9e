/** What webhooks tell of, by the level it happens at. */
export const EVENT_TYPES = [
  'artifact.created',
  'artifact.edited',
  'artifact.archived',
  'artifact.unarchived',
  'variant.created',
  'variant.forked',
  'variant.edited',
  'variant.archived',
  'variant.unarchived',
  'revision.committed',
  'revision.archived',
  'revision.unarchived',
  'environment.deployed',
  'environment.undeployed',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** What a delivery that somebody asked for, to see whether it arrives, says it is. */
export const TEST_EVENT = 'webhook.test'
