export interface LockedPackage {
  version?: string
  resolved?: string
  integrity?: string
  link?: boolean
  optional?: boolean
  dev?: boolean
  os?: string | string[]
  cpu?: string | string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

export interface MissingPackage {
  name: string
  version: string
  dev: boolean
}

export function missingPackages(packages: Record<string, LockedPackage>): MissingPackage[]
export function entryFor(missing: MissingPackage): LockedPackage
export function withoutChecksum(packages: Record<string, LockedPackage>): string[]
