# frozen_string_literal: true

require "openssl"

# Verifies Parley's webhooks. It is one file without dependencies: copy it into your project. Ruby 3.0 or later.
#
#   # request.raw_post and request.headers["Service-Signature"] in Rails,
#   # request.body.read and request.env["HTTP_SERVICE_SIGNATURE"] in Sinatra
#   begin
#     Parley.verify(raw_body, header, ENV.fetch("PARLEY_WEBHOOK_SECRET"))
#   rescue Parley::InvalidDelivery => error
#     return head :bad_request
#   end
#   head :no_content # respond first, then process the event
module Parley
  class InvalidDelivery < StandardError
    # :missing_header, :malformed_header, :timestamp_too_old, :timestamp_in_future or :no_match
    attr_reader :reason

    def initialize(reason, message)
      @reason = reason
      super(message)
    end
  end

  # More than a sender needs, and few enough that checking each is cheap.
  MAX_SIGNATURES = 8

  # Raises InvalidDelivery unless the delivery is genuine and recent. raw_body is the unparsed body: JSON that was parsed
  # and serialized again does not match. header is the value of Service-Signature. While you rotate the secret, pass both.
  def self.verify(raw_body, header, secrets, tolerance: 300, now: Time.now.to_i)
    secrets = Array(secrets)
    raise ArgumentError, "The signing secret is not set." if secrets.empty? || secrets.any? { |each| each.to_s.empty? }
    raise InvalidDelivery.new(:missing_header, "The header Service-Signature is missing.") if header.nil?

    # As bytes: a header is not always valid text.
    parts = header.b.split(",").map(&:strip)
    times = parts.filter_map { |part| part[/\At=([0-9]{1,12})\z/, 1] }
    signatures = parts.filter_map { |part| part[/\Av1=([0-9a-f]{64})\z/, 1] }
    unless times.length == 1 && signatures.length.between?(1, MAX_SIGNATURES)
      raise InvalidDelivery.new(:malformed_header, 'The header Service-Signature is malformed. Expected "t=<seconds>,v1=<hex>".')
    end

    age = now - times[0].to_i
    raise InvalidDelivery.new(:timestamp_too_old, "The delivery was signed too long ago.") if age > tolerance
    if age < -tolerance
      raise InvalidDelivery.new(:timestamp_in_future, "The delivery was signed in the future. Check the clock of this machine.")
    end

    # There are two signatures during a staged rotation. One of them has to match.
    signed = "#{times[0]}.".b + raw_body.b
    matches = secrets.any? do |secret|
      expected = OpenSSL::HMAC.hexdigest("SHA256", secret, signed)
      signatures.any? { |signature| OpenSSL.fixed_length_secure_compare(expected, signature) }
    end
    raise InvalidDelivery.new(:no_match, "The signature does not match the body and the secret.") unless matches
  end
end
