/** A number as people write it. Numbers come without the plus. */
export const formatPhone = (digits: string) => `+${digits}`
